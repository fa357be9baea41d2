"""Server-sent events: work in a thread, told as it goes. Knows no verb and no markup."""

import threading
from collections.abc import AsyncIterator, Callable

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import StreamingResponse

_PING_SECONDS = 10.0
_WAITING = 1_000

Say = Callable[[str, str], None]
"""An event's name and its data."""
Work = Callable[[Say], None]


def event(name: str, data: str) -> str:
    """One event as it travels; a line break of ``data`` begins another line of it."""
    lines = data.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "".join([f"event: {name}\n", *(f"data: {line}\n" for line in lines), "\n"])


def wanted(request: Request) -> bool:
    """Whether a client would rather have a stream."""
    return "text/event-stream" in request.headers.get("accept", "")


def response(work: Work) -> StreamingResponse:
    """What ``work`` says, as it says it. Where the client goes away, the work is let run out unheard."""
    return StreamingResponse(_events(work), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


async def _events(work: Work) -> AsyncIterator[str]:
    sender, receiver = anyio.create_memory_object_stream[str](_WAITING)
    token = anyio.lowlevel.current_token()

    def say(name: str, data: str) -> None:
        try:
            anyio.from_thread.run(sender.send, event(name, data), token=token)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, RuntimeError):
            return  # nobody listens any more

    def run() -> None:
        try:
            work(say)
        finally:
            try:
                anyio.from_thread.run_sync(sender.close, token=token)
            except RuntimeError:
                return  # the server has stopped

    threading.Thread(target=run, daemon=True).start()
    async with receiver:
        while True:
            told = ": still at it\n\n"
            with anyio.move_on_after(_PING_SECONDS):
                try:
                    told = await receiver.receive()
                except anyio.EndOfStream:
                    return
            yield told
