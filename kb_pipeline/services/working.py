"""A worker process that applies pure functions to records. Knows none of them: a request names its function.

Run as ``python -m kb_pipeline.services.working`` by ``pool.py``, its only caller. A request is a length (8 bytes,
big-endian) and a pickle of the function and its records; an answer a length and a pickle of as many results. The end of
standard input (the caller is gone) ends it.
"""

import pickle
import struct
import sys
from typing import Any

from kb_pipeline.services.processes import private_stdout
from kb_pipeline.world import outcomes

LENGTH = struct.Struct(">Q")


def main() -> None:
    """Serve until standard input ends."""
    answers = private_stdout()
    requests = sys.stdin.buffer
    while len(head := requests.read(LENGTH.size)) == LENGTH.size:
        function, records = pickle.loads(requests.read(*LENGTH.unpack(head)))  # noqa: S301 (our own caller's)
        payload = pickle.dumps([_portable(result) for result in outcomes(function, records)])
        answers.write(LENGTH.pack(len(payload)) + payload)
        answers.flush()


def _portable(result: Any) -> Any:
    """``result``; an exception that cannot travel is replaced by one that says the same."""
    if not isinstance(result, Exception):
        return result
    try:
        pickle.loads(pickle.dumps(result))  # noqa: S301 (made right here)
    except Exception:  # noqa: BLE001 (whatever an exception's own class may raise)
        return RuntimeError(f"{type(result).__name__}: {result}")
    return result


if __name__ == "__main__":
    main()
