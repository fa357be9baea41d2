"""The laws of the house, as far as neither ruff, mypy nor import-linter hold them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from kb_pipeline import records
from kb_pipeline_tests.project import ROOT, dependencies, distribution, lines_holding, name, pyproject, tracked

MAX_FILE_LINES = 350
MAX_FUNCTION_LINES = 60
REASONED = {
    "kb_pipeline/world.py": "all that the pipeline may ask of the outside, on one page",
    "kb_pipeline_tests/services/test_fetcher.py": "every limit of the fetcher against one server",
    "kb_pipeline_tests/stages/test_dedup.py": "every way in which drafts change under their clusters",
    "kb_pipeline_tests/test_settings.py": "one file that a user writes, one file of its mistakes",
    "kb_pipeline_tests/test_settings.py:test_every_mistake_is_listed_at_once": "that they are many is the point",
}
"""What may be longer, as ``path`` or ``path:function``, and why."""

VAGUE = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "base", "misc", "shared"}
# A letter in brackets keeps a pattern from finding itself.
UNFINISHED = re.compile(r"\b([T]ODO|[F]IXME|[X]XX|[H]ACK)\b")
OF_ONE_MACHINE = re.compile(r"(?<![\w.~])/([w]ork/|[r]oot/|[h]ome/\w|[U]sers/\w|[m]nt/\w)")


def modules() -> list[Path]:
    """Every Python file of the package and its tests."""
    return tracked("kb_pipeline/*.py", "kb_pipeline_tests/*.py")


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function of a file, methods and inner ones too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_files_and_functions_are_short() -> None:
    """Nothing is longer than its reader's patience without a reason, and no reason outlives what it excused."""
    long = {}
    for path in modules():
        if (lines := len(path.read_text().splitlines())) > MAX_FILE_LINES:
            long[name(path)] = lines
        for function in functions(path):
            if (lines := (function.end_lineno or 0) - function.lineno + 1) > MAX_FUNCTION_LINES:
                long[f"{name(path)}:{function.name}"] = lines
    assert {where: lines for where, lines in long.items() if where not in REASONED} == {}
    assert REASONED.keys() - long.keys() == set()


def test_names_say_what_is_inside() -> None:
    """No module or folder has a name under which anything could be put."""
    parts = {part: name(path) for path in modules() for part in path.relative_to(ROOT).with_suffix("").parts}
    assert {part: where for part, where in parts.items() if part in VAGUE} == {}


def test_nothing_is_left_for_later() -> None:
    """What is tracked is finished."""
    assert lines_holding(UNFINISHED, tracked()) == []


def test_no_path_of_one_machine() -> None:
    """Nothing tracked depends on where it was written."""
    assert lines_holding(OF_ONE_MACHINE, tracked()) == []


def test_records_are_closed_and_frozen() -> None:
    """Every record refuses unknown fields and changes."""
    pending, seen = [records.Record], set[type[records.Record]]()
    while pending:
        record = pending.pop()
        seen.add(record)
        pending += record.__subclasses__()
    loose = [r.__name__ for r in seen if r.model_config.get("extra") != "forbid" or not r.model_config.get("frozen")]
    assert len(seen) > 20
    assert loose == []


def test_every_pydantic_model_is_a_record() -> None:
    """``BaseModel`` is used in ``records/record.py`` alone, so that no model escapes its rules."""
    users = [name(p) for p in tracked("kb_pipeline/*.py") if re.search(r"\bBaseModel\b", p.read_text())]
    assert users == ["kb_pipeline/records/record.py"]


def test_every_test_says_what_must_hold() -> None:
    """Every test has a docstring of one paragraph."""
    silent = [
        f"{name(path)}:{function.name}"
        for path in tracked("kb_pipeline_tests/*.py")
        for function in functions(path)
        if function.name.startswith("test_") and "\n\n" in (ast.get_docstring(function) or "\n\n")
    ]
    assert silent == []


def test_nothing_is_mocked() -> None:
    """Tests use fakes that implement the protocols, never mocks of our own code."""
    mocks = re.compile(r"unittest\.[m]ock|Magic[M]ock|pytest_[m]ock")
    assert lines_holding(mocks, tracked("kb_pipeline_tests/*.py")) == []


def test_tests_mirror_the_package() -> None:
    """Every folder of tests stands for a room of the package, or for what no room owns."""
    rooms = {p.parent.relative_to(ROOT / "kb_pipeline") for p in tracked("kb_pipeline/*.py")}
    folders = {p.parent.relative_to(ROOT / "kb_pipeline_tests") for p in tracked("kb_pipeline_tests/*test_*.py")}
    roomless = {Path("promises"), Path("benchmarks")}
    assert {str(f) for f in folders if f not in rooms and not roomless & {f, *f.parents}} == set()


def test_dagster_reads_real_annotations() -> None:
    """No module of ``defs`` postpones its annotations: Dagster reads the type of ``context``."""
    postponed = re.compile(r"^from __future__ import .*annotations")
    assert lines_holding(postponed, tracked("kb_pipeline/defs/*.py", "kb_pipeline/definitions.py")) == []


def test_versions_are_pinned_by_name_alone() -> None:
    """Every line of ``constraints.txt`` is ``name==version``, and every dependency has one."""
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    pins = [re.fullmatch(r"([A-Za-z0-9._-]+)==[A-Za-z0-9.+!]+", line) for line in lines]
    assert [line for line, pin in zip(lines, pins, strict=True) if not pin] == []
    pinned = {distribution(pin[1]) for pin in pins if pin}
    assert dependencies("dev") - pinned == set()


def test_ci_runs_what_a_desk_runs() -> None:
    """CI runs ``make test``, which selects no subset of the tests."""
    assert (ROOT / ".ci/run").read_text().rstrip().endswith("exec make test")
    pytest_lines = [line for line in (ROOT / "Makefile").read_text().splitlines() if "/pytest" in line]
    assert pytest_lines == ["\t$(BIN)/pytest -n 2", "\tKB_E2E=1 $(BIN)/pytest -m e2e"]  # the second skips by itself
    assert "-m " not in pyproject()["tool"]["pytest"]["ini_options"]["addopts"]
