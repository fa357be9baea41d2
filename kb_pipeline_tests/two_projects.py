"""A knowledge base of two projects that must not see each other, but for what both say in the same words."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.testclient import TestClient

from kb_pipeline.api.door import Door
from kb_pipeline.faces import mcp_server
from kb_pipeline.faces.web.app import application
from kb_pipeline.faces.web.guard import Limits
from kb_pipeline_tests.driving import Cli, compile_all, new_root, opened

HASHED = {"KB_EMBEDDER": "hashing"}
URL = "http://127.0.0.1"
SHARED = "The gateway closes an idle connection after 75 seconds."
HOSTILE = """# Hostile <script>alert(1)</script>

The reactor <img src=x onerror=alert(2)> trips at 40 bar on "quoted" & <b>bold</b> input.

[run](javascript:alert(3)) ![pixel](http://tracker.invalid/pixel.png) <iframe src="http://evil.invalid"></iframe>
"""
VALVES = "".join(
    f"The crimson {part} of the engine opens at {bar} bar.\n\n"
    for bar, part in enumerate(("valve", "tap", "hatch", "lid", "gate", "flap"), start=3)
)
DOCUMENTS = {
    "red/engine.md": f"# Crimson engine\n\nThe crimson engine holds 512 tokens a block.\n\n{SHARED}\n",
    "red/limits.md": "# Crimson limits\n\nThe scarlet limiter admits 90 requests a second.\n",
    "red/guide.md": f"# Crimson guide\n\n{VALVES}",
    "blue/boat.md": f"# Azure boat\n\nThe azure boat carries 12 sailors and 3 anchors.\n\n{SHARED}\n",
    "blue/crew.md": "# Azure crew\n\nThe cobalt crew rests for 8 hours after each voyage.\n",
    "open/hostile.md": HOSTILE,
}
PROJECTS = """projects:
  - {id: red, name: Red team, sources: [red]}
  - {id: blue, name: Blue team, sources: [blue]}
"""
WORDS = {
    "red": r"crimson|scarlet|512 tokens|\bred\b|red/|Red team",
    "blue": r"azure|cobalt|sailor|blue/|\bblue\b|Blue team",
}
"""What betrays a project, whatever the letter case."""


def build(folder: Path) -> Path:
    """The knowledge base, compiled."""
    root = new_root(folder, DOCUMENTS, red="red", blue="blue", open="open")
    sources = root / "sources.yaml"
    sources.write_text(sources.read_text() + PROJECTS)
    with opened(root) as base:
        compile_all(base)
    return root


def betrayals(root: Path, project: str) -> re.Pattern[str]:
    """Matches whatever only ``project`` may know: its words, titles, documents, and the ids of its items."""
    with opened(root) as base:
        ids = [
            row[0]
            for row in base.sql("select id, docs from rows")[1]
            if all(doc.startswith(f"{project}/") for doc in row[1])
        ]
    assert len(ids) >= 4
    return re.compile("|".join([WORDS[project], *map(re.escape, ids)]), re.IGNORECASE)


@contextmanager
def served(root: Path, *, ajar: bool = True, limits: Limits | None = None) -> Iterator[TestClient]:
    """The server over ``root`` without a socket; a client that follows no redirect."""
    door = Door(root, HASHED, ajar=ajar)
    app = application(
        door,
        mounts={"/mcp": mcp_server.over_http("/mcp")},
        hosts=frozenset({"127.0.0.1"}) if ajar else frozenset(),
        limits=limits,
    )
    try:
        with TestClient(app, base_url=URL, raise_server_exceptions=False, follow_redirects=False) as client:
            yield client
    finally:
        door.close()


@contextmanager
def serving(root: Path, **environ: str) -> Iterator[str]:
    """The address of a real ``kb serve``."""
    with Cli(root, **environ).start("serve", "--port", "0") as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            assert found is not None
            yield found[0]
        finally:
            process.terminate()
            assert process.wait(timeout=20) == 0


def bearer(root: Path, name: str, *projects: str, role: str = "reader") -> dict[str, str]:
    """The headers of a new token."""
    with opened(root) as base:
        return {"Authorization": f"Bearer {base.add_token(name, role, projects)}"}  # type: ignore[arg-type]
