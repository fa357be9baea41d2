"""CocoIndex over a folder of Markdown files, as its own LanceDB example does it, with our MiniLM as the embedder.

``python cocoindex_peer.py DOCUMENTS STATE [--replay]`` runs one update and prints its figures as JSON. Runs only in the
environment that ``bench_scale`` makes for it (cocoindex 1.0.26, lancedb). With ``--replay`` a text's hash gives its
vector, so that only the engine is timed; the example's chunks (2,000 characters, 500 shared) and memoising are kept.
"""

# mypy: disable-error-code="misc, untyped-decorator"
# (CocoIndex is installed in its own environment alone, so that nothing of it has a type here.)

import hashlib
import json
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Annotated, Any

import cocoindex as coco
import numpy as np
from cocoindex.connectors import lancedb, localfs
from cocoindex.ops.text import RecursiveSplitter
from cocoindex.resources import schema
from cocoindex.resources.chunk import Chunk
from cocoindex.resources.file import FileLike, PatternFilePathMatcher
from cocoindex.resources.id import IdGenerator
from numpy.typing import NDArray

from kb_pipeline.services.minilm import MiniLM

DOCUMENTS, STATE = Path(sys.argv[1]), Path(sys.argv[2])
REPLAY = "--replay" in sys.argv
TABLE = "chunks"
counts = {"files": 0, "embedded": 0}


class Embedder(schema.VectorSchemaProvider):
    """What the example's SentenceTransformer wrapper does: batched, and remembered by text."""

    def __init__(self) -> None:
        self._model = MiniLM()

    def __getstate__(self) -> dict[str, Any]:
        return {"model": MiniLM.name}

    @coco.fn.as_async(batching=True, runner=coco.GPU, max_batch_size=64)
    def _embed(self, texts: list[str]) -> list[NDArray[np.float32]]:
        counts["embedded"] += len(texts)
        return [replayed(text) for text in texts] if REPLAY else list(self._model.embed(texts))

    @coco.fn(memo=True, version=1, logic_tracking="self")
    async def embed(self, text: str) -> NDArray[np.float32]:
        """The vector of one text."""
        vector: NDArray[np.float32] = await self._embed(text)
        return vector

    async def __coco_vector_schema__(self) -> schema.VectorSchema:
        return schema.VectorSchema(dtype=np.dtype(np.float32), size=MiniLM.dim)

    def close(self) -> None:
        """Release the model."""
        self._model.close()


def replayed(text: str) -> NDArray[np.float32]:
    """A unit vector that follows from the text alone."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
    vector = np.random.default_rng(seed).standard_normal(MiniLM.dim).astype(np.float32)
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


DATABASE = coco.ContextKey[lancedb.LanceAsyncConnection]("database")
EMBEDDER = coco.ContextKey[Embedder]("embedder")
splitter = RecursiveSplitter()


@dataclass
class Row:
    """A chunk in the store."""

    id: int
    filename: str
    chunk_start: int
    chunk_end: int
    text: str
    embedding: Annotated[NDArray[np.float32], EMBEDDER]


@coco.lifespan
async def lifespan(builder: coco.EnvironmentBuilder) -> AsyncIterator[None]:
    """The store and the embedder of one update."""
    builder.settings.db_path = STATE / "coco.db"
    builder.provide(DATABASE, await lancedb.connect_async(str(STATE / "lance")))
    embedder = Embedder()
    builder.provide(EMBEDDER, embedder)
    yield
    embedder.close()


@coco.fn
async def add(chunk: Chunk, name: PurePath, ids: IdGenerator, table: lancedb.TableTarget[Row]) -> None:
    """One chunk, one row."""
    vector = await coco.use_context(EMBEDDER).embed(chunk.text)
    row = Row(
        await ids.next_id(chunk.text), str(name), chunk.start.char_offset, chunk.end.char_offset, chunk.text, vector
    )
    table.declare_row(row=row)


@coco.fn(memo=True)
async def process(file: FileLike, table: lancedb.TableTarget[Row]) -> None:
    """One file: its chunks, each with a vector."""
    counts["files"] += 1
    chunks = splitter.split(await file.read_text(), chunk_size=2000, chunk_overlap=500, language="markdown")
    await coco.map(add, chunks, file.file_path.path, IdGenerator(), table)


@coco.fn
async def main(folder: Path) -> None:
    """All files below ``folder``."""
    columns = await lancedb.TableSchema.from_class(Row, primary_key=["id"])
    table = await lancedb.mount_table_target(DATABASE, TABLE, columns)
    files = localfs.walk_dir(folder, recursive=True, path_matcher=PatternFilePathMatcher(included_patterns=["**/*.md"]))
    await coco.mount_each(process, files.items(), table)


def update() -> None:
    """Run one update and print what it took."""
    STATE.mkdir(parents=True, exist_ok=True)
    app = coco.App(coco.AppConfig(name="scale"), main, folder=DOCUMENTS)
    began = time.perf_counter()
    app.update_blocking()
    print(json.dumps({**counts, "seconds": time.perf_counter() - began}))


if __name__ == "__main__":
    update()
