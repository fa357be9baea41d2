"""A worker process that converts documents: bounded before it begins, it reads from standard input and answers.

Run as ``python -m kb_pipeline.services.conversion MEMORY_MB SECONDS`` by ``sandbox.py``, which is its only caller. A
request is two lengths (4 bytes each, big-endian), a ``RawDoc`` without content as JSON, and the content; an answer is
a length and JSON: ``converted``, or ``refused`` (what, where, cure), or ``failed`` (the name of what was raised).
JSON, not pickle: what a parser was made to do by a hostile file must not reach into the process that asked.

The limits are the kernel's, so that no library can be too busy to honour them: RLIMIT_AS bounds memory, a timer whose
signal is not handled ends the process. The end of standard input (the caller is gone) ends it too.
"""

import json
import resource
import signal
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from kb_pipeline.services.processes import private_stdout

REQUEST = struct.Struct(">II")
ANSWER = struct.Struct(">I")


def main(memory_mb: int, seconds: float) -> None:
    """Serve until standard input ends."""
    signal.setitimer(signal.ITIMER_REAL, seconds)
    _limit(memory_mb)
    answers = private_stdout()
    requests = sys.stdin.buffer
    while (lengths := requests.read(REQUEST.size)) and len(lengths) == REQUEST.size:
        about, content = (requests.read(length) for length in REQUEST.unpack(lengths))
        signal.setitimer(signal.ITIMER_REAL, seconds)
        answer = _answer(about, content)
        signal.setitimer(signal.ITIMER_REAL, 0)
        answer["peak_mb"] = _peak_mb()
        payload = json.dumps(answer).encode()
        answers.write(ANSWER.pack(len(payload)) + payload)
        answers.flush()


def _limit(memory_mb: int) -> None:
    """Bound the address space and write no core; a system that cannot (macOS) keeps the timer alone."""
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (memory_mb << 20, memory_mb << 20))
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _answer(about: bytes, content: bytes) -> dict[str, Any]:
    from kb_pipeline.convert import convert  # after the limits: imports count as work
    from kb_pipeline.errors import ConversionError
    from kb_pipeline.records import RawDoc

    try:
        doc = RawDoc.model_validate({**json.loads(about), "content": content})
        return {"converted": convert(doc).model_dump()}
    except ConversionError as error:
        return {"refused": {"what": error.what, "where": error.where, "cure": error.cure}}
    except BaseException as error:  # noqa: BLE001 (native panics derive from BaseException; one document fails alone)
        return {"failed": type(error).__name__}


def _peak_mb() -> int:
    """The most resident memory of this program. On Linux ``ru_maxrss`` would tell that of the parent, where it is more:
    it is handed down over fork and exec."""
    if sys.platform == "linux":
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) >> 10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak >> (20 if sys.platform == "darwin" else 10)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
