"""CHECKS: every check, once. Dagster, ``kb check`` and the build report are loops over it."""

from collections.abc import Callable
from dataclasses import dataclass

from kb_pipeline.checks import (
    atomic_items,
    chunks,
    dedup,
    eval,  # noqa: A004
    ghosts,
    index,
    lint,
    live,
    normalized,
    pages,
    raw,
    tags,
    wiki,
)
from kb_pipeline.records import Finding
from kb_pipeline.world import Changes, Inputs, World

Run = Callable[[Changes, Inputs, World], Finding]


@dataclass(frozen=True)
class Check:
    """One row: ``stage`` is what it judges, ``needs`` the stages it reads, ``blocking`` whether a failure holds back
    what is downstream. The docstring of ``run`` is the sentence that must be true."""

    stage: str
    name: str
    run: Run
    needs: tuple[str, ...]
    blocking: bool = True

    @property
    def description(self) -> str:
        """The sentence that must be true."""
        return (self.run.__doc__ or "").strip()


CHECKS: tuple[Check, ...] = (
    Check("raw", "sources_are_read", raw.run, ("raw",), blocking=False),
    Check("normalized", "every_original_is_converted", normalized.run, ("raw", "normalized"), blocking=False),
    Check("chunks", "text_is_covered", chunks.run, ("normalized", "chunks")),
    Check("atomic_items", "drafts_are_proven", atomic_items.run, ("chunks", "atomic_items")),
    Check("dedup", "every_draft_is_in_one_cluster", dedup.run, ("atomic_items", "dedup")),
    Check("tags", "items_are_proven", tags.run, ("normalized", "dedup", "tags")),
    Check("tags", "decisions_hold", tags.decisions_hold, ("dedup", "tags")),
    Check("tags", "edits_stand", tags.edits_stand, ("normalized", "tags"), blocking=False),
    Check("pages", "items_are_at_home", pages.run, ("tags", "pages")),
    Check("wiki", "sentences_are_proven", wiki.run, ("pages", "wiki", "tags", "normalized")),
    Check("wiki", "pages_are_linked", lint.linked, ("pages",), blocking=False),
    Check("wiki", "titles_differ", lint.told_apart, ("pages",), blocking=False),
    Check("wiki", "pages_have_a_size", lint.sized, ("pages",), blocking=False),
    Check("wiki", "names_have_pages", lint.covered, ("pages",), blocking=False),
    Check("wiki", "hands_are_proven", lint.fresh, ("pages", "wiki", "tags"), blocking=False),
    Check("wiki", "sources_are_there", lint.sourced, ("wiki", "normalized"), blocking=False),
    Check("index", "no_ghosts", index.run, ("tags", "normalized")),
    Check("eval", "candidate_may_go_live", eval.run, ("eval",)),
    Check("live", "readers_are_served", live.run, (), blocking=False),
    Check("live", "ghosts", ghosts.run, ("raw", "tags", "eval")),
)
