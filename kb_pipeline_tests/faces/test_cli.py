"""The command line as its users and their programs meet it: exit codes, shapes of JSON, errors with their cure."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kb_pipeline_tests.driving import Cli, compile_all, new_root, opened, tree, write

CACHE = "# Cache\n\nThe block cache keeps 16 pages in memory. A page is evicted after 20 minutes without a read.\n"
COMMANDS = ("init", "build", "status", "search", "show", "check", "eval", "rollback", "sql", "dev")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = new_root(tmp_path_factory.mktemp("built") / "base", {"notes/cache.md": CACHE, "notes/broken.pdf": ""})
    with opened(root) as base:
        compile_all(base)
    return root


@pytest.fixture
def cli(built: Path, tmp_path: Path) -> Cli:
    return Cli(Path(shutil.copytree(built, tmp_path / "base")))


def kb(*args: str, cwd: Path, **environ: str) -> "subprocess.CompletedProcess[str]":
    """Run ``kb ARGS`` in a folder, without a root of its own."""
    command = [sys.executable, "-c", "from kb_pipeline.faces.cli import main; main()", *args]
    path = str(Path(__file__).parents[2])
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KB_")}
    env = {**kept, "KB_EMBEDDER": "hashing", "COLUMNS": "200", "PYTHONPATH": path, **environ}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)


# --- finding the root ------------------------------------------------------------------------------------------------


def test_the_root_is_found_upwards_named_or_in_the_environment(built: Path, tmp_path: Path) -> None:
    """From a folder below it, by --root, by KB_ROOT; --root wins."""
    below = built / "notes/deep"
    below.mkdir(exist_ok=True)
    for done in (
        kb("status", "--json", cwd=below),
        kb("status", "--json", "--root", str(built), cwd=tmp_path, KB_ROOT=str(tmp_path)),
        kb("status", "--json", cwd=tmp_path, KB_ROOT=str(built)),
    ):
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout)["root"] == str(built)


@pytest.mark.parametrize("args", [("status",), ("build",), ("search", "x"), ("search", "x", "--root", "/nowhere")])
def test_a_missing_root_says_how_to_start_one(tmp_path: Path, args: tuple[str, ...]) -> None:
    """Nothing on stdout, the cure on stderr, exit 1."""
    done = kb(*args, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "kb init DIR" in done.stderr


def test_init_starts_a_knowledge_base_once(tmp_path: Path) -> None:
    """The files are there, the next step is told, a second time is wrong usage and overwrites nothing."""
    done = kb("init", "base", cwd=tmp_path)
    assert done.returncode == 0
    assert "kb build" in done.stdout
    names = ("sources.yaml", "taxonomy.yaml", "dagster.yaml", "workspace.yaml", ".gitignore", "kb", "notes")
    assert all((tmp_path / "base" / name).exists() for name in names)
    (tmp_path / "base/sources.yaml").write_text("mine")
    again = kb("init", "base", cwd=tmp_path)
    assert (again.returncode, (tmp_path / "base/sources.yaml").read_text()) == (2, "mine")
    assert "already holds a knowledge base" in again.stderr
    nowhere = kb("init", "/proc/nowhere/base", cwd=tmp_path)
    assert (nowhere.returncode, "Choose another folder" in nowhere.stderr) == (1, True)


# --- usage ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("frobnicate",),
        ("search",),
        ("search", ""),
        ("search", "x", "-k", "0"),
        ("search", "x", "--kind", "chapter"),
        ("search", "x", "--since", "yesterday"),
        ("ask", " "),
        ("ask", "x", "--way", "sideways"),
        ("build", "--nonsense"),
        ("eval", "--plot", "trend.png"),
    ],
)
def test_wrong_usage_exits_2(built: Path, args: tuple[str, ...]) -> None:
    """What cannot be meant is told on stderr and changes nothing."""
    done = kb(*args, cwd=built)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("show", "kb_000000000000"), "kb search"),
        (("show", "notes/none.md"), "notes/cache.md"),
        (("show", "nothing"), "kb status"),
        (("search", "x", "--source", "none"), "Known: notes"),
        (("search", "x", "--category", "None"), "Known: Concepts"),
        (("search", "x", "--project", "none"), "Known projects"),
        (("build", "--source", "none"), "Known sources: notes"),
        (("build", "--accept-deletions", "none"), "Known sources: notes"),
        (("check", "none"), "Known stages: raw"),
        (("rollback",), "Retained generations: g00000001"),
        (("rollback", "g00000009"), "Retained generations: g00000001"),
        (("sql", "drop table rows"), "SELECT"),
        (("sql", "select * from nothing"), "DESCRIBE rows"),
        (("sql", "select * from read_csv('/etc/passwd')"), "disabled"),
        (("eval", "--plot", "/nowhere/trend.svg"), "Check the path"),
    ],
)
def test_an_error_names_the_cure(built: Path, args: tuple[str, ...], says: str) -> None:
    """Exit 1, nothing on stdout, what, where and cure on stderr; a name that is none is no empty result."""
    done = kb(*args, cwd=built)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("kb: ")
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_help_tells_every_command_with_an_example(built: Path) -> None:
    """``kb --help`` lists all; each command's help has an example or needs none."""
    listed = kb("--help", cwd=built).stdout
    assert [command for command in COMMANDS if not re.search(rf"(?m)^  {command}\b", listed)] == []
    without = [c for c in COMMANDS if not re.search(r"Examples?: kb", kb(c, "--help", cwd=built).stdout)]
    assert without == ["rollback", "dev"]


@pytest.mark.parametrize("args", [("--help",), ("search", "block cache"), ("status",), ("show", "notes/cache.md")])
def test_reading_does_not_import_dagster(built: Path, args: tuple[str, ...]) -> None:
    """Start-up of all but `build` and `dev` costs no import of Dagster."""
    code = "from kb_pipeline.faces.cli import main; main()"
    command = [sys.executable, "-X", "importtime", "-c", code, *args]
    env = {**os.environ, "KB_EMBEDDER": "hashing", "KB_ROOT": str(built)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    imported = {line.rpartition("|")[2].strip().split(".")[0] for line in done.stderr.splitlines()}
    assert "typer" in imported
    assert not imported & {"dagster", "torch", "transformers", "sqlalchemy", "grpc"}


# --- JSON -------------------------------------------------------------------------------------------------------------


def test_search_prints_hits_with_their_places_and_ranks(cli: Cli) -> None:
    """The shape that programs rely on."""
    found = cli.json("search", "block cache pages", "-k", "2")
    assert found.keys() >= {"query", "generation", "ms", "hits"}
    assert (found["query"], found["generation"], len(found["hits"])) == ("block cache pages", "g00000001", 2)
    hit = found["hits"][0]
    wanted = {"id", "kind", "text", "score", "doc_id", "uri", "heading", "start", "end", "lists"}
    assert hit.keys() >= wanted
    assert (hit["kind"], hit["doc_id"]) == ("item", "notes/cache.md")
    text = (cli.root / "kb/normalized/notes/cache.md.md").read_text()
    assert text[hit["start"] : hit["end"]] == "The block cache keeps 16 pages in memory."
    assert hit["lists"]
    assert all(isinstance(rank, int) for rank in hit["lists"].values())
    assert {hit["kind"] for hit in cli.hits("cache", "--kind", "chunk")} == {"chunk"}


def test_status_show_check_eval_and_sql_print_json(cli: Cli) -> None:
    """Each command's JSON can be parsed and holds what its text tells."""
    status = cli.json("status")
    assert (status["live"], status["sources"][0]["documents"]) == ("g00000001", 2)
    assert status["quarantine"][0]["where"] == "notes/broken.pdf"
    document = cli.json("show", "notes/cache.md")
    assert [item["statement"] for item in document["items"]] == [
        "The block cache keeps 16 pages in memory.",
        "A page is evicted after 20 minutes without a read.",
    ]
    item = cli.json("show", document["items"][0]["id"])
    assert item["passages"][0]["proven"]
    assert {finding["stage"] for finding in cli.json("check")} >= {"raw", "tags", "index", "live"}
    assert cli.json("eval")[-1]["metrics"]["all"]["n"] > 0
    assert cli.json("sql", "select kind, count(*) as n from rows group by 1 order by 1")[-2:] == [
        {"kind": "item", "n": 2},
        {"kind": "page", "n": 1},
    ]


def test_sources_show_the_words_that_carry_the_answer(cli: Cli) -> None:
    """Of what was read whole the sentence is shown that was taken from it, not how the document begins."""
    told = "The block cache keeps 16 pages in memory."
    shown = cli.run("ask", "How many pages does the block cache keep in memory?", "--way", "catalogue").stdout
    answer, sources = shown.split("sources")
    assert answer.startswith(told)
    assert [line.strip().strip("“”") for line in sources.splitlines()[2:3]] == [told]


def test_text_of_each_command_reads_well(cli: Cli) -> None:
    """What a person sees names the quote, the document, the generation and the reason of a refusal."""
    assert "notes/cache.md" in cli.run("search", "block cache").stdout
    item = cli.hits("block cache pages")[0]["id"]
    assert "The block cache keeps 16 pages in memory." in cli.run("show", item).stdout
    status = cli.run("status").stdout
    assert "live g00000001" in status
    assert re.search(r"quarantined +notes/broken\.pdf", status)
    assert "recall@10" in cli.run("eval").stdout
    plot = cli.root / "trend.svg"
    cli.run("eval", "--plot", str(plot))
    assert plot.read_text().startswith("<svg")


# --- builds -----------------------------------------------------------------------------------------------------------


def test_build_reports_figures_and_is_strict_when_told(cli: Cli) -> None:
    """The shape of the report; --strict fails on what is quarantined, also where nothing had to run."""
    (cli.root / "notes/new.md").write_text("# New\n\nThe relay holds 64 messages in its queue.\n")
    report = cli.build()
    assert report.keys() >= {"documents", "stages", "engine", "files_written", "generation", "live", "warnings"}
    assert report["documents"] == {"seen": 3, "changed": 1, "unchanged": 2, "deleted": 0, "failed": 1}
    stages = ["raw", "normalized", "chunks", "atomic_items", "dedup", "tags", "pages", "wiki", "index", "eval", "live"]
    assert list(report["stages"]) == stages
    assert all(stage.keys() >= {"made", "kept", "rejected", "seconds"} for stage in report["stages"].values())
    assert all(isinstance(stage["made"], int) for stage in report["stages"].values())
    assert report["engine"].keys() >= {"calls", "tokens", "cost_usd"}
    assert (report["generation"], report["live"]) == ("g00000002", "g00000002")
    assert cli.build("--strict", code=1)["files_written"] == 0
    told = cli.run("build", "--strict", code=1).stdout
    assert "1 quarantined" in told


def test_a_build_where_nothing_can_be_read_says_so(tmp_path: Path) -> None:
    """With its only source missing the first build is no success that looks like one."""
    root = new_root(tmp_path / "base", {})
    shutil.rmtree(root / "notes")
    done = Cli(root).run("build")
    assert re.search(r"failed +notes: .*cannot be read.*Correct uri", done.stdout)


SOURCES = """version: 1
sources:
  - {id: Notes, type: lokal, uri: notes}
  - {id: a, type: local, uri: [], refresh: sometimes}
  - {id: a, type: local, uri: x}
projects:
  - {id: p, name: P, sources: [missing]}
"""
TAXONOMY = "version: 1\ncategories:\n  - {name: A}\n"
MISTAKES = (
    r"sources.yaml:3: .*'Notes' is not allowed.*Write 'notes'",
    r"sources.yaml:3: .*unknown type 'lokal'.*Did you mean 'local'",
    r"sources.yaml:4: .*'uri' is empty",
    r"sources.yaml:4: .*refresh 'sometimes'.*6h",
    r"sources.yaml:5: .*taken by line 4",
    r"sources.yaml:7: .*unknown source 'missing'",
    r"taxonomy.yaml:3: .*'description' is missing",
    r"taxonomy.yaml:3: .*'keywords' is missing",
)


@pytest.mark.parametrize("command", [("build",), ("status",), ("search", "cache"), ("check",)])
def test_invalid_settings_list_every_mistake_and_change_nothing(cli: Cli, command: tuple[str, ...]) -> None:
    """File, line, what and cure of each, in both files at once; not a byte below ``kb/`` moves."""
    (cli.root / "sources.yaml").write_text(SOURCES)
    (cli.root / "taxonomy.yaml").write_text(TAXONOMY)
    before = tree(cli.root / "kb")
    done = cli.run(*command, code=1)
    assert done.stdout == ""
    assert [mistake for mistake in MISTAKES if not re.search(mistake, done.stderr)] == []
    assert tree(cli.root / "kb") == before


@pytest.mark.parametrize("content", [b"", b"a: [1", b"\xff\xfe\x00", b"- 1\n", b"version: 2\nsources: []\n"])
def test_a_registry_that_is_none_is_named(cli: Cli, content: bytes) -> None:
    """An empty, torn, binary or newer file is an error on its line, never a traceback."""
    (cli.root / "sources.yaml").write_bytes(content)
    done = cli.run("build", code=1)
    assert re.search(r"sources\.yaml:\d+: ", done.stderr)
    assert "Traceback" not in done.stderr


def test_a_newer_knowledge_base_is_refused(cli: Cli) -> None:
    """Neither read nor written, and the cure is told."""
    (cli.root / "kb/schema.json").write_text('{"schema_version": 99}')
    before = tree(cli.root / "kb")
    for command in (("build",), ("search", "cache"), ("status",)):
        assert "Update the program" in cli.run(*command, code=1).stderr
    assert tree(cli.root / "kb") == before


def test_an_interrupted_build_says_that_nothing_is_lost(cli: Cli) -> None:
    """Ctrl-C ends a build at once, with exit 130 and one line; the next one goes on."""
    sentence = "The pump number {0} moves {1} litres per second."
    write(cli.root, {f"notes/{n}.md": f"# {n}\n\n{sentence.format(n, n + 9)}\n" for n in range(400)})
    lock = cli.root / "kb/cache/build.lock"
    lock.unlink()
    build = cli.start("build")
    while not lock.exists():
        time.sleep(0.05)
    os.killpg(build.pid, signal.SIGINT)
    _, err = build.communicate()
    assert (build.returncode, err.strip()) == (130, "kb: stopped; what was finished is kept.")
    with opened(cli.root) as base:
        compile_all(base)
        assert base.status().sources[0].documents == 402


def test_an_unexpected_error_is_one_line(cli: Cli, tmp_path: Path) -> None:
    """A fault of ours is told as such, without a traceback unless one is asked for."""
    code = (
        "import kb_pipeline.api as api; from kb_pipeline.faces.cli import main\n"
        "def broken(*_): raise ZeroDivisionError('oh')\n"
        "api.shared = broken; main()"
    )
    for debug, lines in (("", 1), ("1", 2)):
        env = {**cli.environ, "KB_DEBUG": debug, "KB_ROOT": str(cli.root)}
        done = subprocess.run(
            [sys.executable, "-c", code, "status"], env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        assert "ZeroDivisionError" in done.stderr
        assert ("Traceback" in done.stderr) == bool(debug)
        assert len(done.stderr.splitlines()) >= lines
