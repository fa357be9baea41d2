"""What one who asks sees: hits, items, documents. Formats records, decides nothing."""

from rich.text import Text

from kb_pipeline.faces.rendering.console import OUT, table
from kb_pipeline.records import (
    DocumentView,
    Explanation,
    ItemView,
    Passage,
    SearchResult,
)
from kb_pipeline.rules.ids import item_id


def hits(found: SearchResult) -> None:
    """Hits, best first."""
    if not found.hits:
        OUT.print("Nothing found. Try other words, or fewer restrictions.")
    for place, hit in enumerate(found.hits, start=1):
        lists = " ".join(f"{name} {rank}" for name, rank in hit.lists.items())
        text = hit.text if len(hit.text) <= 400 else f"{hit.text[:400]}…"
        OUT.print(Text.assemble((f"{place:2}  ", "bold"), text))
        where = " › ".join(filter(None, (hit.doc_id, hit.heading, hit.category)))
        OUT.print(Text(f"    {hit.id}  {where}  [{hit.score:.3f}; {lists}]", style="dim"))
        if hit.explanation:
            _explained(hit.explanation)


def _explained(found: Explanation) -> None:
    """What each list added, what age and rereading made of it, and what moved the hit."""
    added = " + ".join(f"{name} {value:.3f}" for name, value in found.added.items())
    OUT.print(
        Text(f"    fused {found.fused:.3f} = {added}, place {found.fused_rank}; age ×{found.decay:.2f}", style="dim")
    )
    if found.rerank is not None:
        OUT.print(Text(f"    {found.rerank:.2f} of 10 by {found.reranked_by}", style="dim"))
    if found.why:
        OUT.print(Text(f"    {found.why}", style="dim"))


def shown(found: ItemView | DocumentView) -> None:
    """An item, or a document."""
    if isinstance(found, ItemView):
        _item(found)
        return
    meta = found.meta
    OUT.print(Text(meta.title, style="bold"))
    facts = (meta.doc_id, meta.source_type, meta.license, meta.language, meta.effective_date, ", ".join(meta.authors))
    OUT.print(" · ".join(filter(None, facts)))
    OUT.print(f"{meta.uri}, read {meta.fetched_at}, converted by {meta.converter} {meta.converter_version}")
    for warning in meta.warnings:
        OUT.print(Text(f"warning: {warning}", style="yellow"))
    OUT.print(f"\n{len(found.items)} items, {len(found.rejects)} passages that are none")
    table(["at", "id", "category", "statement"], [[b.start, b.id, b.category, b.statement] for b in found.items])
    for reject in (r for r in found.rejects if r.quarantined):
        OUT.print(Text(f"quarantined: {reject.reason} ({reject.detail}): {reject.excerpt}", style="yellow"))
    for reply in found.refused:
        OUT.print(Text(f"{reply.at} {reply.task} by {reply.model}: {reply.outcome}, {reply.detail}", style="yellow"))
        OUT.print(Text(reply.reply))


def _item(found: ItemView) -> None:
    item = found.item
    OUT.print(Text(item.statement, style="bold"))
    if item.detail:
        OUT.print(Text(item.detail))
    if item.context:
        OUT.print(Text(f"where: {item.context}"))
    status = item.status + (f" by {item.superseded_by}" if item.superseded_by else "")
    OUT.print(f"{item.id} · {item.item_type} · {item.primary_category} · {', '.join(item.tags)}")
    confirmed = f"{item.confirmations} confirmation{'s' if item.confirmations != 1 else ''}"
    OUT.print(f"{status} · {item.confidence} confidence · {confirmed} · made by {item.engine}")
    OUT.print(f"born {item.created_at}, changed {item.updated_at}")
    if found.fault:
        OUT.print(Text(f"its last valid version: {found.fault}", style="yellow"))
    if item.edited:
        OUT.print(f"in a person's words: {', '.join(sorted(item.edited))}")
    for name, said in sorted(item.clashes.items()):
        settle = f"kb review item:{item.id}:edit:{name} mine|machine"
        OUT.print(Text(f"the machine would word {name} otherwise now: {said} ({settle})", style="yellow"))
    for passage in found.passages:
        _passage(passage)
    if found.neighbours:
        OUT.print("\nnear it")
        table(["id", "category", "statement"], [[b.id, b.category, b.statement] for b in found.neighbours])
    for decision in found.decisions:
        pair = f"pair:{item_id(decision.a)}:{item_id(decision.b)}"
        parting = f" (two facts? kb review {pair} keep)" if decision.decision == "merge" else ""
        OUT.print(Text(f"{decision.decision} by {decision.by}: {decision.reason}{parting}", style="dim"))


def _passage(passage: Passage) -> None:
    citation = passage.citation
    where = " › ".join(filter(None, (citation.doc_id, passage.heading)))
    proof = "" if passage.proven else "  NOT PROVEN"
    OUT.print(Text(f"\n{where} [{citation.start}:{citation.end}]{proof}", style="dim" if passage.proven else "red"))
    before, after = passage.before.rpartition("\n\n")[2], passage.after.partition("\n\n")[0]
    OUT.print(Text.assemble((before, "dim"), (citation.source_span, "reverse"), (after, "dim")))
    OUT.print(Text(f"{citation.uri} · {citation.license} · read {citation.fetched_at}", style="dim"))
