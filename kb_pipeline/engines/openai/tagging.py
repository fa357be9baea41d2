"""Filing items by a model: one item a question. Owns what of the taxonomy is shown; what it says is checked outside."""

import json
from collections.abc import Sequence

from kb_pipeline.engines.openai.failing import words_of
from kb_pipeline.engines.openai.replies import TaggingReply
from kb_pipeline.errors import ModelError
from kb_pipeline.prompts import render
from kb_pipeline.records import UNCLASSIFIED, Ask, Item, Tagging, Taxonomy
from kb_pipeline.world import ChatClient


def tag(items: Sequence[Item], taxonomy: Taxonomy, client: ChatClient) -> list[Tagging]:
    """One tagging an item, in order; ``UNCLASSIFIED`` with the reason where the model cannot answer.

    Raises ``ModelError`` where the endpoint cannot be reached.
    """
    replies = client.ask([ask(item, taxonomy) for item in items], TaggingReply)
    return [_tagging(reply) for reply in replies]


def ask(item: Item, taxonomy: Taxonomy) -> Ask:
    """The question about one item: statement, detail and entities, and the closed lists of ``taxonomy.yaml``."""
    shown = render("tag", categories=_categories(taxonomy), vocabulary=_vocabulary(taxonomy), item=_shown(item))
    doc_id = item.sources[0].doc_id if item.sources else ""
    return Ask(
        task="tag",
        version=shown.version,
        system=shown.system,
        user=shown.user,
        max_tokens=512,
        source_id=doc_id.partition("/")[0],
        doc_id=doc_id,
    )


def _categories(taxonomy: Taxonomy) -> str:
    lines = (
        f"- {c.name}: {' '.join(c.description.split())} Keywords: {', '.join(c.keywords)}" for c in taxonomy.categories
    )
    return "\n".join(lines) or "(there are none: every item is UNCLASSIFIED)"


def _vocabulary(taxonomy: Taxonomy) -> str:
    lines = (f"- {tag}: {', '.join(aliases)}".removesuffix(": ") for tag, aliases in sorted(taxonomy.tags.items()))
    return "\n".join(lines) or "(it is empty)"


def _shown(item: Item) -> str:
    fields = item.model_dump(include={"statement", "detail", "entities"})
    return json.dumps({**fields, "entities": sorted(item.entities)}, ensure_ascii=False, sort_keys=True)


def _tagging(reply: TaggingReply | ModelError) -> Tagging:
    if isinstance(reply, ModelError):
        return Tagging(primary_category=UNCLASSIFIED, note=words_of(reply))
    return Tagging(
        primary_category=reply.primary_category,
        secondary_categories=reply.secondary_categories,
        tags=reply.tags,
        note=reply.note,
    )
