"""Conversion in bounded worker processes: order, limits, and nothing left behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kb_pipeline.errors import ConversionError
from kb_pipeline.records import Converted, RawDoc
from kb_pipeline.services.pool import WorkerPool
from kb_pipeline.services.sandbox import SandboxConverter
from kb_pipeline_tests.convert.documents import docx, paragraph, pdf, raw

MEMORY_MB = 1536
SENTENCE = "The cache holds 512 entries and evicts the oldest one first."


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxConverter]:
    """One converter with the default limits."""
    with SandboxConverter(MEMORY_MB, 30) as converter:
        yield converter


def children() -> set[int]:
    """Processes that this one started and has not waited for."""
    found = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(os.getpid())], capture_output=True, text=True, check=False
    )
    return {int(pid) for pid in found.stdout.split() if Path(f"/proc/{pid}").exists()}


def heavy() -> RawDoc:
    """A Word document that inflates to 95 MB of paragraphs: within the archive's bounds, beyond a parser's memory."""
    return raw("heavy.docx", docx(*[paragraph("A paragraph of words that repeats itself.") * (95_000_000 // 90)]))


def test_results_come_in_order_with_errors_in_their_place(sandbox: SandboxConverter) -> None:
    """Safe and risky documents mixed, one of them refused."""
    docs = [
        raw("a.md", SENTENCE),
        raw("b.pdf", pdf([[SENTENCE]])),
        raw("c.png", b"\x89PNG"),
        raw("d.html", f"<html><body><p>{SENTENCE}</p></body></html>"),
        raw("e.pdf", b"%PDF-1.7 not at all"),
        raw("f.docx", docx(paragraph(SENTENCE))),
    ]
    results = list(sandbox.convert(docs))
    assert [isinstance(r, ConversionError) for r in results] == [False, False, True, False, True, False]
    assert all(SENTENCE in r.text for r in results if isinstance(r, Converted))
    assert [r.where for r in results if isinstance(r, ConversionError)] == ["s/c.png", "s/e.pdf"]


def test_a_worker_gives_what_the_converter_gives(sandbox: SandboxConverter) -> None:
    """Nothing is lost on the way between processes."""
    from kb_pipeline.convert import convert

    doc = raw("b.pdf", pdf([[SENTENCE]], title="Cache handbook"))
    assert next(sandbox.convert([doc])) == convert(doc)


def test_what_is_safe_goes_to_the_pool() -> None:
    """It is begun at once beside what is risky, two processes each, and comes back in its place."""
    docs = [raw(f"{number}.md", SENTENCE) for number in range(200)]
    before = children()
    with WorkerPool(2, patience=0) as pool, SandboxConverter(MEMORY_MB, 30, pool=pool) as converter:
        results = list(
            converter.convert([raw("a.pdf", pdf([[SENTENCE]])), *docs, raw("e.pdf", b"%PDF-1.7 not at all")])
        )
        assert len(children() - before) == 4
    assert [isinstance(found, Converted) for found in results] == [True] * 201 + [False]


def test_no_process_is_started_for_safe_documents() -> None:
    """Text alone needs no worker."""
    before = children()
    with SandboxConverter(MEMORY_MB, 30) as converter:
        assert len(list(converter.convert([raw("a.md", SENTENCE), raw("b.csv", "a,b\n1,2\n")]))) == 2
        assert children() == before


def test_workers_are_used_again_and_end_with_the_converter() -> None:
    """No process is left, not even a zombie."""
    before = children()
    with SandboxConverter(MEMORY_MB, 30, workers=1) as converter:
        docs = [raw("b.pdf", pdf([[SENTENCE]]))]
        list(converter.convert(docs))
        first = children() - before
        list(converter.convert(docs))
        assert children() - before == first
        assert len(first) == 1
    assert children() == before


def test_a_worker_is_not_charged_with_its_callers_memory() -> None:
    """A caller larger than the limit, as a long build is, does not wear its workers out."""
    program = (
        "from kb_pipeline.services.sandbox import SandboxConverter\n"
        "from kb_pipeline_tests.convert.documents import pdf, raw\n"
        "held = bytearray(300 << 20)\n"
        "converter = SandboxConverter(512, 30, workers=1)\n"
        "list(converter.convert([raw('b.pdf', pdf([['words']]))]))\n"
        "print(len(converter._idle), converter.peak_mb < 256)\n"
        "converter.close()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "1 True\n"


def test_a_document_that_takes_too_long_fails_alone_and_names_the_limit() -> None:
    """The kernel's timer ends the worker; the error says what to do."""
    with SandboxConverter(MEMORY_MB, 0.01) as converter:
        slow, safe = converter.convert([raw("b.pdf", pdf([[SENTENCE]])), raw("a.md", SENTENCE)])
    assert isinstance(slow, ConversionError)
    assert "longer than 0.01 s" in slow.what
    assert "convert_seconds" in slow.cure
    assert isinstance(safe, Converted)


def test_a_document_that_eats_memory_fails_alone_and_names_the_limit() -> None:
    """Those before and after it, and those beside it, are converted."""
    good = raw("f.docx", docx(paragraph(SENTENCE)))
    with SandboxConverter(512, 60) as converter:
        results = list(converter.convert([good, heavy(), good, good]))
        assert converter.peak_mb <= 512
    assert [isinstance(r, Converted) for r in results] == [True, False, True, True]
    assert isinstance(results[1], ConversionError)
    assert "memory" in results[1].what or "512 MB" in results[1].what
    assert "convert_memory_mb" in results[1].cure


def test_a_worker_that_is_killed_costs_no_document() -> None:
    """One that dies between documents, for whatever reason, is replaced."""
    docs = [raw("b.pdf", pdf([[SENTENCE]]))]
    before = children()
    with SandboxConverter(MEMORY_MB, 30, workers=1) as converter:
        list(converter.convert(docs))
        for pid in children() - before:
            os.kill(pid, signal.SIGKILL)
        assert isinstance(next(converter.convert(docs)), Converted)


def test_abandoned_results_leave_no_busy_worker() -> None:
    """Who stops asking stops paying."""
    before = children()
    with SandboxConverter(MEMORY_MB, 30) as converter:
        results = converter.convert([raw(f"{n}.pdf", pdf([[SENTENCE]])) for n in range(8)])
        next(results)
        results.close()
    assert children() == before


def test_workers_end_when_their_caller_is_killed() -> None:
    """Even by a signal that it cannot handle."""
    program = (
        "import subprocess, os, sys\n"
        "from kb_pipeline.services.sandbox import SandboxConverter\n"
        "from kb_pipeline_tests.convert.documents import pdf, raw\n"
        "converter = SandboxConverter(1536, 30)\n"
        "list(converter.convert([raw('b.pdf', pdf([['words']]))]))\n"
        "print(*[w._process.pid for w in converter._idle], flush=True)\n"
        "sys.stdin.read()\n"
    )
    caller = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with caller:
        assert caller.stdout
        workers = [int(pid) for pid in caller.stdout.readline().split()]
        caller.kill()
    assert workers
    deadline = time.monotonic() + 60
    while any(runs(pid) for pid in workers):
        assert time.monotonic() < deadline, "a worker outlived its caller"
        time.sleep(0.05)


def runs(pid: int) -> bool:
    """Whether there is such a process, and not a zombie of one."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_worker_sees_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys of this process are not in the environment of one that reads hostile files."""
    monkeypatch.setenv("KB_LLM_API_KEY", "secret")
    with SandboxConverter(MEMORY_MB, 30, workers=1) as converter:
        list(converter.convert([raw("b.pdf", pdf([[SENTENCE]]))]))
        environment = Path(f"/proc/{converter._idle[0]._process.pid}/environ").read_bytes()
    assert b"secret" not in environment
    assert b"PATH=" in environment


def test_libraries_that_print_do_not_reach_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    """Warnings about a damaged PDF are warnings of its record."""
    broken = pdf([[SENTENCE]]).replace(b"startxref\n", b"startxref\n99")
    with SandboxConverter(MEMORY_MB, 30) as converter:
        list(converter.convert([raw("b.pdf", broken), raw("c.pdf", b"%PDF-1.4 junk")]))
    assert capfd.readouterr() == ("", "")


def test_the_sandbox_imports_no_converting_library() -> None:
    """The main process stays small: parsers are loaded by workers alone."""
    heavy_modules = "{'lxml', 'trafilatura', 'pypdf', 'kreuzberg', 'liteparse', 'dagster', 'ftfy'}"
    program = f"import sys, kb_pipeline.services.sandbox; print(*{heavy_modules} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_every_real_and_hostile_file_is_converted_or_refused_with_a_reason(corpus: Path) -> None:
    """Bombs, locked, cut and misnamed files among good ones; workers stay under their limit."""
    files = sorted(p for folder in ("hostile", "mixed") for p in (corpus / folder).iterdir())
    with SandboxConverter(MEMORY_MB, 30) as converter:
        results = list(converter.convert([raw(p.name, p.read_bytes()) for p in files]))
        assert converter.peak_mb < MEMORY_MB
    refused = {p.name: r for p, r in zip(files, results, strict=True) if isinstance(r, Exception)}
    assert set(refused) == {
        *("bomb.docx", "bomb.pdf", "empty.pdf", "encrypted-file.pdf", "libreoffice-writer-password.pdf"),
        *("r6-both-passwords.pdf", "truncated.docx"),
    }
    assert all(isinstance(r, ConversionError) and r.what and r.where and r.cure for r in refused.values())
    assert all(r.text == "" or r.text.endswith("\n") for r in results if isinstance(r, Converted))
