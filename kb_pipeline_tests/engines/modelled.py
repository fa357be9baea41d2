"""Whole builds over a model in this process."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from kb_pipeline.api import KnowledgeBase
from kb_pipeline.engines.openai import OpenAi
from kb_pipeline.records import Ask, StageReport
from kb_pipeline_tests.driving import compile_all, new_root, opened
from kb_pipeline_tests.fakes import ScriptedChat, honestly
from kb_pipeline_tests.promises.documents import DOCUMENTS, TAXONOMY

Script = Callable[[Ask], Any]


def said(statement: str, span: str, kind: str = "fact", topic: str = "", **fields: Any) -> dict[str, Any]:
    """An item as a model gives it."""
    empty: dict[str, Any] = {"detail": "", "context": None, "entities": [], "confidence": "high"}
    return {**empty, "statement": statement, "source_span": span, "item_type": kind, "topic": topic, **fields}


@contextmanager
def modelled(root: Path, chat: ScriptedChat) -> Iterator[KnowledgeBase]:
    """The knowledge base in this process, thinking through ``chat``."""
    with opened(root) as base:
        base.world = replace(base.world, engine=OpenAi(base.settings, chat))
        yield base


def built(root: Path, chat: ScriptedChat) -> list[StageReport]:
    """Bring everything up to date."""
    with modelled(root, chat) as base:
        return compile_all(base)[0]


def extracting(items: list[dict[str, Any]]) -> Script:
    """A script that extracts ``items`` and is honest otherwise."""
    return lambda ask: {"items": items} if ask.task == "extract" else honestly(ask)


def base_of(folder: Path, documents: Mapping[str, str] = DOCUMENTS) -> Path:
    """A knowledge base over ``documents`` with a taxonomy."""
    sources = {name.partition("/")[0]: name.partition("/")[0] for name in documents}
    root = new_root(folder, documents, **sources)
    (root / "taxonomy.yaml").write_text(TAXONOMY)
    return root
