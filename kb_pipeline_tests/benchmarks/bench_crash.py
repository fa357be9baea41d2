"""What kills, simultaneous builds and busy readers do to a knowledge base: nothing.

``python -m kb_pipeline_tests.benchmarks.bench_crash [--kills 20] [--points 40] [--publishes 25]`` works on a copy of
the project's sample and prints a table. Builds are killed with SIGKILL at random instants; then a process is killed
before each of ``--points`` of the changes that a build makes to the file system. Two readers in processes of their own
ask without pause all the while. In the end the items must be those of a knowledge base over the same sources that
nothing disturbed, and no process may be left.
"""

import argparse
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from kb_pipeline_tests.driving import Cli, compile_all, opened, write
from kb_pipeline_tests.project import ROOT
from kb_pipeline_tests.reading import readers

QUERY = "block size of the KV cache"


def main() -> None:
    """Print one row a trial."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--points", type=int, default=40)
    parser.add_argument("--publishes", type=int, default=25)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    print(f"machine: {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}\n")
    with tempfile.TemporaryDirectory(prefix="kb-crash-") as folder:
        trials = Trials(Path(folder), random.Random(given.seed))
        print(f"sample built in {trials.seconds:.1f} s: {len(trials.pristine.active())} active items\n")
        print(f"{'trial':34} {'done':42} {'readers':34} result")
        trials.kill_builds(given.kills)
        trials.kill_between_writes(given.points)
        trials.build_twice()
        trials.publish(given.publishes)


class Trials:
    """Each trial on its own copy of one built knowledge base."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder, self.chance = folder, chance
        self.pristine = Cli(folder / "pristine")
        for name in ("examples", "sources.yaml", "taxonomy.yaml", "dagster.yaml", "workspace.yaml"):
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile
            self.pristine.root.mkdir(exist_ok=True)
            copy(ROOT / name, self.pristine.root / name)
        write(self.pristine.root, editions(0))
        began = time.monotonic()
        self.pristine.build()
        self.seconds = time.monotonic() - began

    def kill_builds(self, kills: int) -> None:
        """Edit, start a build from the shell and kill it, again and again; then let one end."""
        cli, killed = self._copy("killed"), 0
        with readers(cli, 2, self.folder / "stop-killed", QUERY) as told:
            for n in range(kills):
                write(cli.root, editions(n + 1))
                killed += _killed(cli, self.chance.uniform(0.2, self.seconds))
            cli.build()
        self._row(f"{kills} × kill -9 of kb build", f"{killed} died, {kills - killed} had ended before", told, cli)

    def kill_between_writes(self, points: int) -> None:
        """Die before single changes of the file system, spread evenly over all that a build makes."""
        counted = self._copy("counted")
        write(counted.root, editions(1))
        total = int(_dying(counted.root, 0).stdout)
        survivors = 0
        told: list[dict[str, Any]] = []
        for n in range(points):
            cli = self._copy(f"point-{n}")
            write(cli.root, editions(1))
            died = _dying(cli.root, 1 + total * n // points).returncode == -signal.SIGKILL
            with opened(cli.root) as base:
                assert base.search(QUERY).hits
                compile_all(base)
            survivors += died and self._same(cli)
            shutil.rmtree(cli.root)
        result = "same items" if survivors == points else f"DIFFERS at {points - survivors} points"
        _print("killed before a write", f"{points} of {total} changes", told, result)

    def build_twice(self) -> None:
        """Two builds of the same edits at once."""
        cli = self._copy("twice")
        write(cli.root, editions(1))
        with readers(cli, 2, self.folder / "stop-twice", QUERY) as told:
            builds = [cli.start("build") for _ in range(2)]
            ends = [(*build.communicate(), build.returncode) for build in builds]
        waited = sum("another build is under way" in err for _, err, _ in ends)
        self._row("2 × kb build at once", f"exit {[code for *_, code in ends]}, {waited} waited and said so", told, cli)

    def publish(self, publishes: int) -> None:
        """Publish again and again while readers ask."""
        cli = self._copy("published")
        with readers(cli, 2, self.folder / "stop-published", QUERY) as told:
            for n in range(publishes):
                write(cli.root, editions(n + 1))
                with opened(cli.root) as base:
                    compile_all(base)
        self._row(f"{publishes} publishes", f"live is {cli.json('status')['live']}", told, cli)

    def _copy(self, name: str) -> Cli:
        return Cli(Path(shutil.copytree(self.pristine.root, self.folder / name)))

    def _row(self, trial: str, done: str, told: list[dict[str, Any]], cli: Cli) -> None:
        sound = all(finding["ok"] or not finding["blocking"] for finding in cli.json("check"))
        same = self._same(cli)
        _print(trial, done, told, f"{'same items' if same else 'OTHER ITEMS'}, checks {'pass' if sound else 'FAIL'}")

    def _same(self, cli: Cli) -> bool:
        """Whether the active items are those of a knowledge base over the same sources that nothing disturbed."""
        undisturbed = Cli(Path(shutil.copytree(self.pristine.root, self.folder / "undisturbed")))
        shutil.rmtree(undisturbed.root / "examples")
        shutil.copytree(cli.root / "examples", undisturbed.root / "examples")
        with opened(undisturbed.root) as base:
            compile_all(base)
        known = [_known(one) for one in (cli, undisturbed)]
        shutil.rmtree(undisturbed.root)
        return known[0] == known[1]


def editions(number: int) -> dict[str, str]:
    """Documents that change together: what a reader sees of them must be of one number."""
    colours = ("red", "green", "blue")
    return {
        f"examples/notes/{colour}.md": f"# {colour.title()}\n\nThe {colour} catalogue is edition {number}. It lists "
        f"{number * 7 + 100} parts of the {colour} machine.\n"
        for colour in colours
    }


def _known(cli: Cli) -> dict[str, Any]:
    return {
        s: (i["id"], i["primary_category"], sorted(c["doc_id"] for c in i["sources"])) for s, i in cli.active().items()
    }


def _killed(cli: Cli, after: float) -> bool:
    build = cli.start("build")
    try:
        build.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        os.killpg(build.pid, signal.SIGKILL)
        build.communicate()
        return True
    return False


def _dying(root: Path, change: int) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "kb_pipeline_tests.dying", str(root), str(change)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _print(trial: str, done: str, told: list[dict[str, Any]], result: str) -> None:
    errors = [error for t in told for error in t["errors"]]
    requests = sum(t["requests"] for t in told)
    readers_told = f"{requests} requests, {len(errors)} errors" if told else "one at each point"
    print(f"{trial:34} {done:42} {readers_told:34} {result}", flush=True)
    for error in errors[:5]:
        print(f"    {error}")


if __name__ == "__main__":
    main()
