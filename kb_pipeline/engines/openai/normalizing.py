"""Cleaning converted documents by a model: piece by piece. Owns which documents and pieces are worth asking about.

What comes back is a proposal: whether it says the same is checked outside.
"""

from collections.abc import Iterator, Sequence

from kb_pipeline.engines.openai.failing import words_of
from kb_pipeline.engines.openai.replies import MarkdownReply
from kb_pipeline.errors import ModelError
from kb_pipeline.prompts import render
from kb_pipeline.records import Ask, Chunk, Document, Rewrite
from kb_pipeline.rules.chunking import chunk
from kb_pipeline.world import ChatClient

_MINIMUM, _TARGET, _MAXIMUM = 1500, 4000, 8000  # code points of a piece; its cleaned text must fit into one reply
_OURS = "kb_pipeline"  # converters of our own read formats that lose nothing: Markdown, plain text, code, tables


def normalize(
    documents: Sequence[Document], which: str, client: ChatClient
) -> Iterator[tuple[Rewrite, ...] | Exception]:
    """Proposals for each document, in order; ``which`` are asked about: ``converted``, ``all`` or ``none``.

    A ``ModelError`` in place of those of a document about which the endpoint cannot be reached.
    """
    pieces = [pieces_of(document, which) for document in documents]
    replies = client.ask([ask(piece) for found in pieces for piece in found], MarkdownReply)
    for found in pieces:
        answers = [next(replies) for _ in found]
        try:
            yield tuple(_rewrite(piece, reply) for piece, reply in zip(found, answers, strict=True))
        except ModelError as error:
            yield error


def pieces_of(document: Document, which: str) -> list[Chunk]:
    """The pieces of prose of a document that is to be cleaned: code and tables are as the converter read them."""
    wanted = which == "all" or (which == "converted" and document.meta.converter != _OURS)
    if not wanted or document.meta.source_type == "code":
        return []
    return [c for c in chunk(document, minimum=_MINIMUM, target=_TARGET, maximum=_MAXIMUM) if c.kind == "text"]


def ask(piece: Chunk) -> Ask:
    """The question about one piece: its text alone."""
    shown = render("normalize", raw=piece.text)
    return Ask(
        task="normalize",
        version=shown.version,
        system=shown.system,
        user=shown.user,
        max_tokens=max(1024, len(piece.text)),
        source_id=piece.doc_id.partition("/")[0],
        doc_id=piece.doc_id,
    )


def _rewrite(piece: Chunk, reply: MarkdownReply | ModelError) -> Rewrite:
    if isinstance(reply, ModelError):
        return Rewrite(start=piece.start, end=piece.end, text=None, reason=words_of(reply))
    return Rewrite(start=piece.start, end=piece.end, text=reply.markdown.replace("\r\n", "\n").strip("\n"))
