"""A long run in small: faults, a kill, and a second run that finishes."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from kb_pipeline_tests.benchmarks.bench_model import FAULTS, soak, start
from kb_pipeline_tests.endpoint import serve


def test_a_killed_run_repeats_nothing_that_was_finished(tmp_path: Path) -> None:
    """After ``kill -9`` amid faults a second run asks for what was missing alone: every chunk is accounted for, and
    only what was in flight may have been paid twice.
    """
    found = soak(300, 16, tmp_path)
    assert found.last["came"] == {"right": 300}
    assert found.kept == 300
    assert found.kept_at_kill > 50
    assert found.repeated == 0
    assert found.paid_twice <= found.concurrency
    assert len(found.faults) == len(FAULTS)


def test_an_interrupted_run_keeps_what_is_finished(tmp_path: Path) -> None:
    """Ctrl-C ends a run amid its calls, at once, with every finished reply kept and no thread left behind."""
    with serve(delay=0.01) as endpoint:
        endpoint.fault("hang", match="chunk 00003", times=9)
        process = start(endpoint.url, tmp_path, 2000, 8)
        while endpoint.count() < 40:
            assert process.poll() is None
        os.kill(process.pid, signal.SIGINT)
        process.communicate(timeout=20)
        assert process.returncode != 0
        answered = len(endpoint.answered())
    kept = len(list((tmp_path / "replies").glob("*/*.json")))
    assert kept >= answered - 8


def test_nobody_pays_for_a_library_that_is_not_used() -> None:
    """Whoever asks no model loads neither the SDK nor the price table."""
    code = (
        "import sys, kb_pipeline.api, kb_pipeline.services.endpoint\n"
        "print(sorted({'openai', 'genai_prices', 'json_repair'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
