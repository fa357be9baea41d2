"""Promise 7, gated: a new generation goes live only after the evaluation passes, the first one with a warning; until
then, and during every rebuild, readers are served by the last good one alone; a rollback stands until the inputs
change."""

import time
from pathlib import Path

from kb_pipeline.settings import Options
from kb_pipeline_tests.driving import Cli, compile_all, new_root, opened, write
from kb_pipeline_tests.promises.documents import LIMITS
from kb_pipeline_tests.reading import readers

# Forty near-equal sentences: a question about one of them cannot find it among its like.
NOISE = "\n\n".join(f"The gate number {n} opens valve {n} at {n} bar of pressure." for n in range(40))
STRICT = {"KB_EVAL_FLOOR_RECALL10": "1.0", "KB_EVAL_TOLERANCE": "0.0"}


def generations(cli: Cli) -> tuple[str, str]:
    """The live generation and the newest one."""
    status = cli.json("status")
    return status["live"], status["candidate"]


def test_the_first_generation_goes_live_with_a_warning(tmp_path: Path) -> None:
    """There is nothing better to serve, so that a poor first evaluation warns instead of holding back."""
    root = new_root(tmp_path / "base", {"notes/noise.md": NOISE})
    with opened(root, **STRICT) as base:
        reports, _ = compile_all(base)
        assert base.status().live == "g00000001"
    assert any("first generation goes live" in warning for report in reports for warning in report.warnings)


def test_what_fails_the_evaluation_is_held_back(cli: Cli) -> None:
    """Readers keep the last good generation; the build says why and is not repeated until something changes; then the
    next good one goes live."""
    strict = Cli(cli.root, **STRICT)
    write(cli.root, {"notes/noise.md": NOISE})
    report = strict.build()
    assert (report["live"], report["generation"]) == ("g00000001", "g00000002")
    assert any("held back" in warning and "recall@10" in warning for warning in report["warnings"])
    assert report["next_steps"] == ["kb eval: why the newest generation is held back"]
    assert not [hit for hit in cli.hits("gate valve pressure") if "valve" in hit["text"]]
    findings = {finding["stage"]: finding for finding in strict.json("check", code=1)}
    assert (findings["eval"]["ok"], findings["eval"]["blocking"]) == (False, True)
    assert [strict.build()["live"], strict.build()["generation"]] == ["g00000001", "g00000002"]
    (cli.root / "notes/noise.md").unlink()
    cli.build()
    assert generations(cli) == ("g00000003", "g00000003")


def test_a_rollback_stands_until_the_inputs_change(cli: Cli) -> None:
    """The earlier generation serves, through builds that change nothing, until a document changes."""
    write(cli.root, {"notes/limits.md": LIMITS.replace("900 rows", "950 rows")})
    with opened(cli.root) as base:
        compile_all(base)
    assert cli.hits("export job rows per second")[0]["text"].endswith("950 rows per second.")
    assert cli.json("rollback")["live"] == "g00000001"
    assert cli.hits("export job rows per second")[0]["text"].endswith("900 rows per second.")
    assert cli.json("status")["pinned"] == "g00000001"
    for full in (False, True):
        with opened(cli.root) as base:
            compile_all(base, full=full)
            assert not base.stale()
        assert cli.json("status")["live"] == "g00000001"
    write(cli.root, {"notes/limits.md": LIMITS.replace("900 rows", "990 rows")})
    cli.build()
    assert cli.hits("export job rows per second")[0]["text"].endswith("990 rows per second.")
    assert cli.json("status")["pinned"] is None


def test_what_a_retained_generation_cites_can_be_shown(cli: Cli) -> None:
    """After a rollback its quotes are still provable: the versions of documents it cites are kept."""
    write(cli.root, {"notes/limits.md": LIMITS.replace("900 rows", "950 rows")})
    with opened(cli.root) as base:
        compile_all(base)
        base.rollback()
    hit = cli.hits("export job rows per second")[0]
    shown = cli.json("show", hit["id"])
    assert all(passage["proven"] for passage in shown["passages"])


def test_readers_see_no_error_while_builds_publish(cli: Cli, tmp_path: Path) -> None:
    """A reader in another process is served one whole state throughout builds, a rollback and the collection of old
    generations."""
    with readers(cli, 1, tmp_path / "stop", "block cache pages of memory") as told:
        for n in range(Options().retained_generations + 3):
            write(
                cli.root,
                {f"notes/{name}.md": f"# {name}\n\nThe {name} list is edition {n}.\n" for name in ("red", "blue")},
            )
            with opened(cli.root) as base:
                compile_all(base)
                if n == 2:
                    base.rollback()
                    time.sleep(0.2)
    assert told[0]["errors"] == []
    assert told[0]["generations"] > 1
    assert len(cli.json("status")["generations"]) <= Options().retained_generations + 1
