"""README and docs say what is so: their trees, tables, commands and links are checked against the project."""

import ast
import re
import shlex
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup

from kb_pipeline.settings import load
from kb_pipeline_tests.project import ROOT, dependencies, name, tracked

README = ROOT / "README.md"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
SHELL = {"cd", "python3 -m venv .venv", ".venv/bin/pip install -c constraints.txt -e '.[dev]'"}
"""What a page may tell to type besides ``kb`` and ``make``; the Makefile does the same."""


def pages() -> list[Path]:
    """Every page written for people, the sample's documents aside."""
    return tracked("*.md", ":!examples/*/*", ":!kb/*", ":!kb_pipeline/*")


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of one language."""
    return [body for kind, body in FENCE.findall(page.read_text()) if kind == language]


def commands() -> list[tuple[str, str]]:
    """``(page, command)`` of every line that a page tells to type."""
    return [
        (name(page), line.removeprefix("$ ").strip())
        for page in pages()
        for block in blocks(page, "console")
        for line in block.splitlines()
        if line.startswith("$ ")
    ]


def tree() -> dict[str, str]:
    """The README's tree as path to phrase; a line is indented by two spaces more than its folder's."""
    (block,) = (b for b in blocks(README, "text") if b.startswith("kb_pipeline/\n"))
    found: dict[str, str] = {}
    folders: list[str] = []
    for line in block.splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        entry, _, phrase = line.strip().partition(" ")
        folders[depth:] = [entry]
        found["".join(folders)] = phrase.strip()
    return found


def real_tree() -> dict[str, str]:
    """Every folder and module of the package, with the first sentence of its docstring."""
    found: dict[str, str] = {}
    for path in tracked("kb_pipeline/*"):
        for folder in path.relative_to(ROOT).parents[:-1]:
            found.setdefault(f"{folder.as_posix()}/", "")
        if path.suffix == ".py":
            sentence = (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n\n")[0].replace("\n", " ")
            found[f"{name(path.parent)}/" if path.stem == "__init__" else name(path)] = sentence
    return found


def test_the_tree_is_the_real_one() -> None:
    """README's tree names every room and module of the package and nothing else; the failure lists what to add."""
    told, real = tree(), real_tree()
    missing = [f"{'  ' * (path.rstrip('/').count('/'))}{path}  {real[path]}" for path in real.keys() - told.keys()]
    assert sorted(missing) == []
    assert sorted(told.keys() - real.keys()) == []


def test_every_entry_of_the_tree_has_a_phrase() -> None:
    """Each line of the tree says what stands there, in one phrase."""
    assert [path for path, phrase in tree().items() if not phrase and path != "kb_pipeline/"] == []


def test_every_dependency_earns_its_line() -> None:
    """README names each dependency with its reason, and none that is gone."""
    section = README.read_text().partition("\n## Dependencies\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([a-z0-9, -]+) \| (.+) \|$", section, re.MULTILINE)
    named = {library for names, _ in rows for library in names.split(", ")} - {"library"}
    assert named == dependencies()


def test_every_link_resolves() -> None:
    """Each relative link of a page leads to a file, and its anchor to a heading of it."""
    dead = [
        f"{name(page)}: {link}"
        for page in pages()
        for link in LINK.findall(FENCE.sub("", page.read_text()))
        if "://" not in link and not resolves(page, link)
    ]
    assert dead == []


def resolves(page: Path, link: str) -> bool:
    """Whether a relative link leads to a file and, where it has one, to a heading."""
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists() or not anchor:
        return target.exists()
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", target.read_text()), re.MULTILINE)
    return anchor in {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_every_page_is_reachable() -> None:
    """Whoever starts at the README finds every page of ``docs``."""
    found = {(README.parent / link).resolve() for link in LINK.findall(README.read_text())}
    assert [name(page) for page in tracked("docs/*.md") if page not in found] == []


@pytest.mark.parametrize("page", pages(), ids=name)
def test_settings_can_be_copied(page: Path, tmp_path: Path) -> None:
    """Each example of ``sources.yaml`` or ``taxonomy.yaml`` on a page is accepted as it stands, or with the top lines
    that it leaves out.
    """
    for number, block in enumerate(blocks(page, "yaml")):
        root = tmp_path / str(number)
        root.mkdir()
        given = set(re.findall(r"^(\w+):", block, re.MULTILINE))
        file = "taxonomy.yaml" if given & {"categories", "tags"} else "sources.yaml"
        left_out = {"version": "version: 1\n", "categories": "categories: []\n", "sources": "sources: []\n"}
        wanted = ("version", "categories" if file == "taxonomy.yaml" else "sources")
        if given & {"sources", "projects", "settings", "categories", "tags"}:
            (root / "sources.yaml").write_text("version: 1\nsources: []\n")
            (root / file).write_text("".join(left_out[key] for key in wanted if key not in given) + block)
            load(root, environ={})


@pytest.mark.parametrize(("page", "command"), commands())
def test_commands_can_be_typed(page: str, command: str) -> None:
    """Each command of a page exists with the options that the page gives it."""
    words = shlex.split(command.partition(" | ")[0].partition(" > ")[0])
    if words[0] == "make":
        targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert [word for word in words[1:] if "=" not in word and word not in targets] == []
    elif Path(words[0]).name == "kb":
        check_kb(words[1:])
    else:
        assert command in SHELL or words[0] in SHELL, f"{page}: {command}"


def check_kb(words: list[str]) -> None:
    """Whether ``kb WORDS`` names a command and only options that it has."""
    cli = pytest.importorskip("kb_pipeline.faces.cli")
    (app,) = (value for value in vars(cli).values() if isinstance(value, typer.Typer))
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    command = group.commands[words[0]] if words and not words[0].startswith("-") else group
    if isinstance(command, TyperGroup) and command is not group:
        command = command.commands[words[1]]
    known = {"--help"} | {option for given in command.params for option in [*given.opts, *given.secondary_opts]}
    used = [word.partition("=")[0] for word in words if re.match(r"--?[a-zA-Z]", word)]
    assert [option for option in used if option not in known] == []
