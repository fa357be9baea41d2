"""Tokens as they are kept, whom they stand for, how often they may come, and what is left of a query."""

import json
import stat
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest

from kb_pipeline.api.access import Forbidden, Unknown, allowed
from kb_pipeline.api.door import Door, TooMany
from kb_pipeline.errors import KbError, NotFound, StoreError
from kb_pipeline.records import Principal, Query
from kb_pipeline_tests.driving import Cli, new_root, opened
from kb_pipeline_tests.two_projects import HASHED, PROJECTS


@pytest.fixture
def root(tmp_path: Path) -> Path:
    found = new_root(tmp_path / "base", {"red/a.md": "# A\n\nThe red one.\n"}, red="red", blue="blue")
    (found / "sources.yaml").write_text((found / "sources.yaml").read_text() + PROJECTS)
    (found / "blue").mkdir()
    return found


def test_a_token_is_kept_as_its_hash(root: Path) -> None:
    """The file holds no token, can be read by its owner alone, and is kept out of git where it lies."""
    with opened(root) as base:
        secret = base.add_token("mira", "reader", ("red",))
        kept = (root / "kb/access/tokens.json").read_text()
        assert secret not in kept
        assert secret.removeprefix("kb_") not in kept
        assert stat.S_IMODE((root / "kb/access/tokens.json").stat().st_mode) == 0o600
        assert stat.S_IMODE((root / "kb/access").stat().st_mode) == 0o700
        assert (root / "kb/access/.gitignore").read_text() == "*\n"
        assert base.admit(secret) == Principal(name="mira", role="reader", projects=("red",))
        for wrong in ("", secret[:-1], f"{secret}x", "kb_\udcff"):
            with pytest.raises(Unknown):
                base.admit(wrong)


def test_names_and_projects_are_checked(root: Path) -> None:
    """A name is taken once; a project must be one; what is revoked is gone, and only that."""
    with opened(root) as base:
        kept, gone = base.add_token("kept", "admin"), base.add_token("gone", "editor")
        for name, projects, kind in (("kept", (), KbError), (" ", (), KbError), ("x", ("green",), NotFound)):
            with pytest.raises(kind):
                base.add_token(name, "reader", projects)
        base.revoke_token("gone")
        with pytest.raises(NotFound):
            base.revoke_token("gone")
        with pytest.raises(Unknown):
            base.admit(gone)
        assert base.admit(kept).role == "admin"


def test_a_broken_file_lets_nobody_in(root: Path) -> None:
    """Damage is told, and is no reason to open the door."""
    with opened(root) as base:
        secret = base.add_token("mira", "reader")
        (root / "kb/access/tokens.json").write_text('[{"name": "mira"}]')
        with pytest.raises(StoreError, match="add the tokens anew"):
            base.admit(secret)


@pytest.mark.parametrize(
    ("role", "needed", "may"),
    [("reader", "reader", True), ("reader", "editor", False), ("editor", "reader", True), ("editor", "admin", False)],
)
def test_roles_hold_those_below(role: str, needed: str, may: bool) -> None:
    """An editor may what a reader may, and not the other way round."""
    principal = Principal.model_validate({"name": "x", "role": role})
    if may:
        allowed(principal, needed)  # type: ignore[arg-type]
    else:
        with pytest.raises(Forbidden, match=needed):
            allowed(principal, needed)  # type: ignore[arg-type]


def test_a_bucket_fills_evenly(root: Path) -> None:
    """A token has a minute's requests at once, then one for each part of a minute that passes."""
    (root / "sources.yaml").write_text((root / "sources.yaml").read_text() + "settings: {token_rpm: 6}\n")
    now = [0.0]
    door = Door(root, HASHED, clock=lambda: now[0])
    try:
        secret = door.base.add_token("mira", "reader")
        for _ in range(6):
            door.admit(secret, face="api", kind="automation")
        with pytest.raises(TooMany) as told:
            door.admit(secret, face="api", kind="automation")
        assert told.value.seconds == pytest.approx(10.5)
        now[0] += 10
        door.admit(secret, face="api", kind="automation")
        with pytest.raises(TooMany):
            door.admit(secret, face="api", kind="automation")
    finally:
        door.close()


def test_old_queries_go_with_the_first_of_a_day(root: Path) -> None:
    """Files of days beyond the retention are removed, the others stay."""
    (root / "sources.yaml").write_text((root / "sources.yaml").read_text() + "settings: {audit_days: 2}\n")
    folder = root / "kb/logs/queries"
    folder.mkdir(parents=True)
    with opened(root) as base:
        today = base.world.clock.now().date()
        days = [(today - timedelta(days=n)).isoformat() for n in range(4)]
        for day in days[1:]:
            (folder / f"{day}.jsonl").write_text("")
        base.record(Query(at="", who="x", kind="agent", face="mcp", verb="search", question="what?", hits=1))
        kept = sorted(path.stem for path in folder.iterdir())
        assert kept == sorted(days[:2])
        assert json.loads((folder / f"{kept[1]}.jsonl").read_text())["question"] == "what?"


def test_usage_names_what_had_no_answer_and_what_was_slow(root: Path) -> None:
    """The latest unanswered and the slowest queries are listed, and counted by day, project and user."""
    with opened(root) as base:
        for n in range(3):
            base.record(Query(at="", who="x", kind="agent", face="mcp", verb="ask", answered=n > 0, ms=1500.0 * n))
        base.record(Query(at="", who="y", kind="person", face="web", verb="search", project="red"))
        base.record(Query(at="", who="y", kind="person", face="web", verb="typing", project="red"))
        found = base.usage(1)
    assert (found.queries, dict(found.users), dict(found.projects)) == (4, {"x": 3, "y": 1}, {"all": 3, "red": 1})
    assert [query.ms for query in found.slow] == [3000.0, 1500.0]
    assert [query.answered for query in found.unanswered] == [False]


def test_tokens_on_the_command_line(root: Path) -> None:
    """A token is told once, listed without its hash, revoked by name; what it sees must be said."""
    cli = Cli(root)
    done = run(cli, "token", "add", "ci", "--project", "red", "--role", "editor")
    secret = done.strip()
    assert secret.startswith("kb_")
    assert "ci" in run(cli, "token", "list")
    listed = json.loads(run(cli, "token", "list", "--json"))
    assert listed == [{**listed[0], "name": "ci", "role": "editor", "projects": ["red"]}]
    assert "sha256" not in listed[0]
    assert "what may the token see?" in run(cli, "token", "add", "other", code=2)
    assert "unknown role" in run(cli, "token", "add", "other", "--all", "--role", "king", code=2)
    assert "shut out" in run(cli, "token", "revoke", "ci")
    assert "no token 'ci'" in run(cli, "token", "revoke", "ci", code=1)
    assert json.loads(run(cli, "usage", "--json"))["queries"] == 0
    assert "0 queries since" in run(cli, "usage")


def test_no_other_address_is_served_without_tokens(root: Path) -> None:
    """Beyond loopback the server refuses to start before there is a token."""
    told = run(Cli(root), "serve", "--host", "0.0.0.0", "--port", "0", code=1)
    assert "there is no token" in told
    assert "kb token add NAME" in told


def run(cli: Cli, *words: str, code: int = 0) -> str:
    """``kb WORDS`` with the root behind them, since groups take it last; what it printed."""
    command = [*cli.command("x")[:-3], *words, "--root", str(cli.root)]
    done = subprocess.run(command, env=cli.environ, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr
