"""``kb dev``: this process becomes Dagster's development server over one root."""

import os
import signal
import sys
from pathlib import Path

from kb_pipeline.api import KnowledgeBase
from kb_pipeline.errors import SettingsError


def serve(base: KnowledgeBase, host: str, port: int) -> None:
    """Become ``dagster dev``: UI, sensor and schedule. Raises ``Busy`` where another one serves this root."""
    root = base.settings.root
    os.chdir(root)
    base.close()
    needed(root, "workspace.yaml", "dagster.yaml")
    base.serve_alone()
    os.environ.setdefault("DAGSTER_HOME", _home(base))
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's `&` hands down an ignored one, which nothing could stop
    command = [
        sys.executable,
        "-W",
        "ignore::FutureWarning",
        "-m",
        "dagster",
        "dev",
        "-w",
        "workspace.yaml",
        "-h",
        host,
        "-p",
        str(port),
    ]
    os.execv(command[0], command)  # noqa: S606 - our own interpreter, no shell


def needed(root: Path, *names: str) -> None:
    """Raise ``SettingsError`` for a file that Dagster needs: without its own it would send usage statistics."""
    for name in names:
        if not (root / name).is_file():
            cure = "Copy it from a folder that `kb init DIR` made."
            raise SettingsError("is missing.", where=str(root / name), cure=cure)


def _home(base: KnowledgeBase) -> str:
    """A folder whose ``dagster.yaml`` is that of the root. The root itself will not do: Dagster claims folders such
    as ``logs/`` in its home for its telemetry."""
    home = base.settings.root / ".dagster" / "home"
    home.mkdir(parents=True, exist_ok=True)
    if not (home / "dagster.yaml").exists():
        (home / "dagster.yaml").symlink_to("../../dagster.yaml")
    return str(home)
