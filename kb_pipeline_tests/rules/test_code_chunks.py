"""Source code: one section a definition, named by its path, with what stands above it."""

import pytest

from kb_pipeline.records import Chunk
from kb_pipeline.rules.chunking import chunk
from kb_pipeline_tests.rules.test_chunking import assert_tiles, document

SIZES = {"minimum": 40, "target": 120, "maximum": 240}


def chunked(text: str, name: str) -> list[Chunk]:
    """The chunks of a source file, checked to tile it."""
    chunks = chunk(document(text, doc_id=f"src/lib/{name}", source_type="code"), **SIZES)
    assert_tiles(text, chunks)
    assert {c.kind for c in chunks} <= {"code"}
    return chunks


PYTHON = '''"""Serves models — 检索."""

import os
import sys

LIMIT = 429


# How a request is admitted.
# It is never queued twice.
@decorated
def admit(request, limit=LIMIT):
    """Admit a request."""
    return request if limit else None


class Server:
    """A server of models, which is long enough to be opened into its methods one by one."""

    port = 8080

    def start(self):
        """Start it on the port, and wait for connections."""
        return self.port

    # Stops at once.
    async def stop(self):
        """Stop it, and close all of its connections now."""
        return None
'''


def test_definitions_are_chunks_under_their_path() -> None:
    """Functions and the methods of a long class, each with the comments and decorators above it."""
    chunks = chunked(PYTHON, "server.py")
    assert [(c.heading, c.text.splitlines()[0]) for c in chunks] == [
        (("server.py",), '"""Serves models — 检索."""'),
        (("server.py", "admit"), "# How a request is admitted."),
        (("server.py", "Server"), "class Server:"),
        (("server.py", "Server", "start"), "    def start(self):"),
        (("server.py", "Server", "stop"), "    # Stops at once."),
    ]


def test_a_short_class_is_one_chunk_and_short_functions_are_grouped() -> None:
    """What is under the minimum keeps company, under the file's name; one alone keeps its own."""
    text = (
        "class A:\n    def f(self):\n        return 'forty characters and some'\n\n\ndef f(): ...\n\n\ndef g(): ...\n"
    )
    assert [c.heading for c in chunked(text, "a.py")] == [("a.py", "A"), ("a.py",)]
    assert [c.heading for c in chunked("def f(): ...\n", "a.py")] == [("a.py", "f")]


FILLER = 'x = "some statement of a body that fills it"'

NAMED = [
    ("a.go", f"func (t *T) Serve() {{\n{FILLER}\n}}\n", "Serve"),
    ("a.go", f"type Server struct {{\n  a int // {FILLER}\n}}\n", "Server"),
    ("a.rs", f"#[test]\nfn serve() {{\n{FILLER};\n}}\n", "serve"),
    ("a.rs", f"impl Display for Server {{ fn f() {{ {FILLER}; }} }}\n", "Server"),
    ("a.c", f"static int\nserve(int a) {{\n{FILLER};\n}}\n", "serve"),
    ("a.h", f"#ifndef A\n#define A\nint serve(int a) {{\n{FILLER};\n}}\n#endif\n", "serve"),
    ("a.cpp", f"int Server::serve(int a) {{\n{FILLER};\n}}\n", "Server::serve"),
    ("a.cc", f'extern "C" {{\ntemplate <class T> int serve(T a) {{\n{FILLER};\n}}\n}}\n', "serve"),
    ("a.cs", f"class Server {{ int P; void F() {{ {FILLER}; }} }}\n", "Server"),
    ("a.java", f"public class Server {{ void f() {{ {FILLER}; }} }}\n", "Server"),
    ("a.js", f"export const serve = async (a) => {{\n{FILLER};\n}};\n", "serve"),
    ("a.ts", f"export default class Server {{\n a = 1; // {FILLER}\n}}\n", "Server"),
    ("a.tsx", f"function Page() {{\n{FILLER};\n return <a/>;\n}}\n", "Page"),
    ("a.rb", f"module M\n  def serve\n    {FILLER}\n  end\nend\n", "M"),
    ("a.php", f"<?php\nfunction serve() {{\n${FILLER};\n}}\n", "serve"),
    ("a.kt", f"fun serve(): Int {{\n  val {FILLER}\n  return 1\n}}\n", "serve"),
    ("a.swift", f"func serve() {{\n  let {FILLER}\n}}\n", "serve"),
    ("a.scala", f"object Server {{\n  val {FILLER}\n}}\n", "Server"),
    ("a.sh", f"serve() {{\n  {FILLER}\n}}\n", "serve"),
    ("a.lua", f"local function serve()\n  {FILLER}\nend\n", "serve"),
    ("a.dart", f"void serve() {{\n  var {FILLER};\n}}\n", "serve"),
    ("a.sol", f"contract Server {{ function f() public {{ {FILLER}; }} }}\n", "Server"),
]


@pytest.mark.parametrize(("name", "text", "definition"), NAMED, ids=[f"{n}-{d}" for n, _, d in NAMED])
def test_each_language_names_its_definitions(name: str, text: str, definition: str) -> None:
    """The grammar of every listed language loads, and a definition gives its name to the path."""
    assert (name, definition) in [c.heading for c in chunked(text, name)]


@pytest.mark.parametrize("name", ["a.sql", "a.toml", "Makefile", "a.xyz"])
def test_an_unknown_language_is_read_by_blank_lines(name: str) -> None:
    """No grammar is asked for that is not carried."""
    text = "\n\n".join(f"select {n} as a\n  from table_{n}\n where b = {n}" for n in range(20))
    chunks = chunked(text, name)
    assert len(chunks) > 2
    assert all(c.text.startswith("select") for c in chunks)
    assert {c.heading for c in chunks} == {(name,)}


@pytest.mark.parametrize(
    "text",
    ["(" * 50_000, "{" * 50_000, "def f(:\n" * 2_000, "a=1\n\0\n", "a=f(1);" * 20_000, "class A:\n" * 200],
    ids=["parentheses", "braces", "broken", "nul", "minified", "nested"],
)
def test_what_is_hardly_code_is_chunked_all_the_same(text: str) -> None:
    """Broken, minified or endless input loses nothing."""
    assert chunked(text, "a.py")
    assert chunked(text, "a.js")


def test_a_long_function_is_cut_at_its_blank_lines() -> None:
    """Its pieces keep its path."""
    body = "\n\n".join(f"    step_{n} = 'one thing'\n    run(step_{n})" for n in range(20))
    chunks = chunked(f"def f():\n{body}\n", "a.py")
    assert len(chunks) > 3
    assert {c.heading for c in chunks} == {("a.py", "f")}
    assert all(c.text.splitlines()[-1].startswith("    run(") for c in chunks)
