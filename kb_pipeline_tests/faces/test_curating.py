"""Curating by the command line: what scripts read and write, a walk on a terminal, an editor."""

import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest

from kb_pipeline_tests.driving import Cli, compile_all, new_root, opened

ALPHA = "# Alpha\n\nThe alpha cache holds 16 blocks.\n\nThe alpha server accepts 512 connections at once.\n"
BETA = "# Beta\n\nThe alpha cache holds 32 blocks.\n"


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = new_root(tmp_path_factory.mktemp("pristine") / "kb", {"notes/alpha.md": ALPHA, "notes/beta.md": BETA})
    with opened(root) as base:
        compile_all(base)
    return root


@pytest.fixture
def cli(pristine: Path, tmp_path: Path) -> Cli:
    return Cli(Path(shutil.copytree(pristine, tmp_path / "kb")))


def test_a_script_lists_decides_and_takes_back(cli: Cli) -> None:
    """JSON of what waits, a decision by name, exit 2 for an action that is none, and undo."""
    (conflict,) = cli.json("conflicts")
    (waiting,) = cli.json("review", "--list", "--kind", "conflict")
    assert waiting["name"] == f"conflict:{conflict['a']}:{conflict['b']}"
    assert "Actions: merge" in cli.run("review", waiting["name"], "marry", "--reason", "x", code=2).stderr
    made = cli.json("review", waiting["name"], "keep", "--reason", "two caches", "--who", "ada")
    assert (made["action"], made["reason"], made["who"]) == ("keep", "two caches", "ada")
    cli.build()
    assert cli.json("conflicts") == []
    assert "no two active items disagree" in cli.run("conflicts").stdout
    assert cli.json("review", "--undo") == made
    assert "no decision to take back" in cli.run("review", "--undo", code=1).stderr


def test_a_walk_on_a_terminal_goes_from_one_to_the_next(cli: Cli) -> None:
    """Each review with its statements and quotes; a wrong word is asked again before any reason, skip goes on, quit
    ends."""
    told = typed(cli, "marry", "keep", "two caches", "skip", "q")
    assert "“The alpha cache holds 32 blocks.”" in told
    assert "'marry' does not settle it" in told
    assert "1 decided" in told
    assert cli.json("review", "--undo")["reason"] == "two caches"


@pytest.mark.parametrize(("stays", "statement"), [("1", 0), ("2", 1)])
def test_a_walk_asks_which_of_two_stays(cli: Cli, stays: str, statement: int) -> None:
    """Of supersede and retire one stays, and that may be either."""
    (conflict,) = cli.json("conflicts")
    typed(cli, "supersede", stays, "measured again", "quit")
    cli.build()
    kept, old = (conflict["a"], conflict["b"]) if statement == 0 else (conflict["b"], conflict["a"])
    assert (cli.items()[kept]["status"], cli.items()[old]["superseded_by"]) == ("active", kept)


def test_a_kind_that_is_none_is_no_empty_list(cli: Cli) -> None:
    """A filter that nothing can pass must not look as if nothing waited."""
    assert "low_confidence" in cli.run("review", "--list", "--kind", "conflicts", code=2).stderr


def typed(cli: Cli, *lines: str) -> str:
    """What ``kb review`` shows on a terminal to one who types ``lines``."""
    master, slave = pty.openpty()
    os.write(master, "".join(f"{line}\n" for line in lines).encode())
    done = subprocess.run(
        cli.command("review"), env=cli.environ, stdin=slave, capture_output=True, text=True, timeout=60, check=False
    )
    os.close(master)
    os.close(slave)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_editor_words_an_item_better(cli: Cli, tmp_path: Path) -> None:
    """What was saved in $EDITOR is the person's; what was left alone is not, and a failing editor changes nothing."""
    key = cli.active()["The alpha server accepts 512 connections at once."]["id"]
    script = tmp_path / "editor"
    script.write_text('#!/bin/sh\nsed -i "s/The alpha server/Each alpha server/" "$1"\n')
    script.chmod(0o755)
    cli.environ |= {"EDITOR": str(script), "VISUAL": ""}
    assert "statement changed" in cli.run("edit", key).stdout
    cli.build()
    item = cli.items()[key]
    assert (item["statement"], list(item["edited"])) == (
        "Each alpha server accepts 512 connections at once.",
        ["statement"],
    )
    cli.environ["EDITOR"] = "false"
    assert "nothing was changed" in cli.run("edit", key, code=1).stderr
    cli.environ["EDITOR"] = "no-such-editor -w"
    assert "$EDITOR" in cli.run("edit", key, code=1).stderr
    cli.environ["EDITOR"] = ""
    assert "Set one" in cli.run("edit", key, code=2).stderr


def test_an_item_is_retired_and_restored_by_name(cli: Cli) -> None:
    """A status by option, and back."""
    key = cli.active()["The alpha server accepts 512 connections at once."]["id"]
    assert "status changed" in cli.run("edit", key, "--status", "retired").stdout
    cli.build()
    assert cli.items()[key]["status"] == "retired"
    assert "comes back" in cli.run("restore", key).stdout
    cli.build()
    assert cli.items()[key]["status"] == "active"
    assert "nobody hid or retired it" in cli.run("restore", key, code=1).stderr
