"""The fake endpoint itself: replies are recorded and replayed, and nothing is made up."""

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from kb_pipeline_tests.endpoint import FakeEndpoint, serve


def post(endpoint: FakeEndpoint, **body: Any) -> dict[str, Any]:
    """The body of a chat completion."""
    told = {"model": "m", "messages": [{"role": "user", "content": "hello"}], **body}
    request = urllib.request.Request(f"{endpoint.url}/chat/completions", json.dumps(told).encode())
    with urllib.request.urlopen(request) as response:
        return dict(json.load(response))


def test_what_was_recorded_is_replayed(tmp_path: Path) -> None:
    """Each request goes to the real endpoint once; afterwards its reply is the same without it, byte for byte."""
    with serve() as real:
        with serve(rules=[], cassettes=tmp_path, upstream=real.url) as recording:
            first = post(recording)
            assert post(recording) == first
            post(recording, temperature=1)
        assert real.count() == 2
    with serve(rules=[], cassettes=tmp_path) as replaying:
        assert post(replaying) == first
        with pytest.raises(urllib.error.HTTPError, match="404"):
            post(replaying, temperature=0.5)


def test_requests_are_counted_at_the_server() -> None:
    """The counter is the server's own: every request that arrived, in order, whatever became of it."""
    with serve() as endpoint:
        endpoint.fault("500", match="hello")
        with pytest.raises(urllib.error.HTTPError, match="500"):
            post(endpoint)
        post(endpoint, response_format={"type": "json_object"})
        assert [(c["status"], c["fault"], c["rung"]) for c in endpoint.calls()] == [
            (500, "500", "prompt"),
            (200, "", "json_object"),
        ]
        assert sum(endpoint.answered().values()) == 1
