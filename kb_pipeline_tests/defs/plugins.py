"""Source types that tests put into ``kb/plugins/`` of their roots."""

import time
from collections.abc import Callable
from pathlib import Path

# Remote: without a fingerprint only `refresh` says when to look. It serves what stands in feed.txt, and counts.
FEED = """
from pathlib import Path
from kb_pipeline.records import Fetched

TYPE = "feed"


def fetch(source, known, world):
    folder = Path(world.settings.root)
    with (folder / "asked").open("a") as asked:
        asked.write(f"{source.id}\\n")
    yield Fetched(path="feed.txt", state="changed", uri="feed:1", content=(folder / "feed.txt").read_bytes())
"""

# Calls `LOOKED` whenever somebody asks for its state.
WATCHED = """
from kb_pipeline.records import Fetched
from kb_pipeline_tests.defs import plugins

TYPE = "watched"


def fingerprint(source, settings):
    plugins.LOOKED()
    return "always the same"


def fetch(source, known, world):
    yield Fetched(path="a.txt", state="changed", uri="watched:1", content=b"This page never changes at all.")
"""
LOOKED: Callable[[], None] = lambda: None  # noqa: E731 - a slot for a test

# Never ends by itself, and says that it began.
SLOW = """
import time
from pathlib import Path

TYPE = "slow"


def fetch(source, known, world):
    (Path(world.settings.root) / "began").touch()
    time.sleep(600)
    yield
"""


def wait_for(path: Path) -> None:
    """Until a file is there."""
    for _ in range(600):
        if path.exists():
            return
        time.sleep(0.1)
    raise AssertionError(f"{path} never came")


def install(root: Path, name: str, code: str) -> None:
    """Put a source type into a root."""
    (root / "kb" / "plugins" / f"{name}.py").write_text(code)
