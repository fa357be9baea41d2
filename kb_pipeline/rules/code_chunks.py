"""Source code → sections by syntax nodes. Owns which nodes are definitions and what they are called; refuses to cut.

A definition of the minimum or more is a section of its own under ``(file, class, function)``, with the comments and
attributes right above it; a class over the maximum is opened into its members; what is smaller or stands between is
grouped. A language that is not listed, or a file that is hardly parsed, is read by blank lines.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ast_grep_py import SgNode, SgRoot

from kb_pipeline.rules.splitting import Block, Section, Sizes

# ast-grep panics, past `except Exception`, on a language that it does not carry: this list is the guard.
_LANGUAGES = {
    "bash": ("sh", "bash", "zsh"),
    "c": ("c", "h"),
    "cpp": ("cc", "cpp", "cxx", "hh", "hpp", "hxx", "cu", "cuh"),
    "csharp": ("cs",),
    "dart": ("dart",),
    "go": ("go",),
    "java": ("java",),
    "javascript": ("js", "mjs", "cjs", "jsx"),
    "kotlin": ("kt", "kts"),
    "lua": ("lua",),
    "php": ("php",),
    "python": ("py", "pyi"),
    "ruby": ("rb", "rake"),
    "rust": ("rs",),
    "scala": ("scala", "sc"),
    "solidity": ("sol",),
    "swift": ("swift",),
    "tsx": ("tsx",),
    "typescript": ("ts", "mts", "cts"),
}
_LANGUAGE_OF = {extension: language for language, extensions in _LANGUAGES.items() for extension in extensions}


def _kinds(names: str) -> frozenset[str]:
    return frozenset(names.split())


_CONTAINERS = _kinds("""
    class class_declaration class_definition class_specifier abstract_class_declaration struct_specifier
    struct_declaration struct_item enum_declaration interface_declaration trait_declaration trait_definition trait_item
    impl_item mod_item module internal_module namespace_declaration namespace_definition object_declaration
    object_definition protocol_declaration record_declaration contract_declaration library_declaration
""")
_DEFINITIONS = _CONTAINERS | _kinds("""
    function_definition function_declaration function_item generator_function_declaration method method_declaration
    method_definition singleton_method constructor_declaration destructor_declaration property_declaration
    type_declaration type_alias_declaration enum_item enum_specifier union_specifier macro_definition
    modifier_definition
""")
_WRAPPERS = _kinds("""
    decorated_definition export_statement template_declaration expression_statement lexical_declaration
    variable_declaration variable_declarator type_spec declaration
""")
"""Nodes that may hold one definition, or a name with a function as its value."""

_TRANSPARENT = _kinds("""
    preproc_ifdef preproc_if preproc_else preproc_elif linkage_specification declaration_list class_member
""")
"""Nodes that hold definitions without meaning anything to a reader: include guards, ``extern "C"``."""

_FUNCTION_VALUES = _kinds("arrow_function function_expression generator_function")
_NAMES = _kinds("name type_identifier simple_identifier identifier")
_LEADS = _kinds("""
    comment line_comment block_comment multiline_comment attribute_item decorator annotation access_specifier
""")
_BODY = re.compile(r".*_body|(?:.*_)?declaration_list|statement_block|block|body_statement")
_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n)+")
_MOST_CODE = 2_000_000
_LONG_LINE = re.compile(r".{5000}")  # minified: to tell a node's place costs the length of its line
_MOST_ERRORS = 0.1
_DEEPEST = 12
_WRAPPED = 6
_LONGEST_NAME = 120


def sections(text: str, name: str, sizes: Sizes) -> list[Section]:
    """The sections of a source file called ``name``, in order; every block is of kind ``code``."""
    root = _parsed(text, name)
    if root is None:
        starts = [0, *(m.end() for m in _BLANK_LINES.finditer(text) if m.end() < len(text))]
        return [Section((name,), [Block(start, kind="code") for start in starts], len(text))]
    return list(_Reader(text, sizes).read(_named(root), 0, len(text), (name,)))


def _parsed(text: str, name: str) -> SgNode | None:
    language = _LANGUAGE_OF.get(name.rpartition(".")[2].lower())
    if language is None or len(text) > _MOST_CODE or _LONG_LINE.search(text):
        return None
    root = SgRoot(text, language).root()
    if root.kind() == "ERROR":
        return None
    broken = sum(_end(node) - _start(node) for node in root.children() if node.kind() == "ERROR")
    return root if broken <= _MOST_ERRORS * len(text) else None


@dataclass(frozen=True, slots=True)
class _Part:
    """A syntax node with the comments above it; ``definition`` is the node that names it, if any does."""

    start: int
    end: int
    definition: SgNode | None = None


@dataclass(frozen=True, slots=True)
class _Reader:
    """Walks one file's nodes from the top; a member is visited only when what holds it is over the maximum."""

    text: str
    sizes: Sizes

    def read(self, nodes: Sequence[SgNode], start: int, end: int, path: tuple[str, ...]) -> Iterator[Section]:
        """Sections over ``text[start:end]``; what precedes the first of ``nodes`` goes with it."""
        loose: list[_Part] = []
        for part in self._parts(nodes, start, end):
            if part.definition is None or part.end - part.start < self.sizes.minimum:
                loose.append(part)
                continue
            if loose:
                yield _grouped(loose, path)
                loose = []
            yield from self._defined(part, part.definition, path)
        if loose:
            yield _grouped(loose, path)

    def _defined(self, part: _Part, definition: SgNode, path: tuple[str, ...]) -> Iterator[Section]:
        name = _name(definition)
        path = (*path, name) if name else path
        members = _members(definition) if part.end - part.start > self.sizes.maximum and len(path) < _DEEPEST else []
        if any(_definition(member) for member in members):
            yield from self.read(members, part.start, part.end, path)
        else:
            yield Section(path, [Block(part.start, kind="code")], part.end)

    def _parts(self, nodes: Sequence[SgNode], start: int, end: int) -> list[_Part]:
        """``nodes`` as parts that tile ``text[start:end]``: each ends where the next begins."""
        found: list[tuple[int, SgNode | None]] = []
        leads: list[int] = []
        below = start
        for node in nodes:
            first, between = _start(node), self.text[below : _start(node)].count("\n")
            below = _end(node)
            if between > 1:
                found += [(lead, None) for lead in leads]
                leads = []
            if node.kind() in _LEADS and (between or not found):
                leads.append(first)
                continue
            found.append((leads[0] if leads else first, _definition(node)))
            leads = []
        found += [(lead, None) for lead in leads]
        starts = [start, *(self._line_start(first, start) for first, _ in found[1:])]
        definitions = [definition for _, definition in found] or [None]
        tiles = zip(starts, [*starts[1:], end], definitions, strict=True)
        return [_Part(first, last, definition) for first, last, definition in tiles if last > first]

    def _line_start(self, offset: int, floor: int) -> int:
        """The start of the line where only indent precedes ``offset``, else ``offset``."""
        line = offset
        while line > floor and self.text[line - 1] in " \t":
            line -= 1
        return line if line == floor or self.text[line - 1] == "\n" else offset


def _grouped(parts: Sequence[_Part], path: tuple[str, ...]) -> Section:
    """Small parts together; the path names a definition that is among them alone."""
    named = [part.definition for part in parts if part.definition]
    name = _name(named[0]) if len(parts) == len(named) == 1 else ""
    blocks = [Block(part.start, kind="code") for part in parts]
    return Section((*path, name) if name else path, blocks, parts[-1].end)


# --- syntax nodes ------------------------------------------------------------------------------------------------


def _start(node: SgNode) -> int:
    return node.range().start.index


def _end(node: SgNode) -> int:
    return node.range().end.index


def _named(node: SgNode) -> list[SgNode]:
    """The named children, with those of transparent nodes in their place."""
    children: list[SgNode] = []
    waiting = [node]
    while waiting:
        top = waiting.pop()
        if top is node or top.kind() in _TRANSPARENT:
            waiting += [child for child in reversed(top.children()) if child.is_named()]
        else:
            children.append(top)
    return children


def _definition(node: SgNode) -> SgNode | None:
    """The definition that ``node`` is or wraps."""
    for _ in range(_WRAPPED):
        if node.kind() in _DEFINITIONS:
            return node
        if node.kind() not in _WRAPPERS:
            return None
        value = node.field("value")
        if value and value.kind() in _FUNCTION_VALUES:
            return node
        inner = [child for child in node.children() if child.kind() in _DEFINITIONS or child.kind() in _WRAPPERS]
        if not inner:
            return None
        node = inner[-1]
    return None


def _members(definition: SgNode) -> list[SgNode]:
    if definition.kind() not in _CONTAINERS:
        return []
    bodies = [definition.field("body"), *(child for child in definition.children() if _BODY.fullmatch(child.kind()))]
    return next((_named(body) for body in bodies if body), [])


def _name(definition: SgNode) -> str:
    """What the definition is called, as written; empty where it has no name."""
    named = definition.field("name") or _declarator(definition) or definition.field("type")
    if named is None:
        named = next((child for child in definition.children() if child.kind() in _NAMES), None)
    if named is None:
        inner = (child.field("name") for child in definition.children())
        named = next((name for name in inner if name), None)
    return " ".join(named.text().split())[:_LONGEST_NAME] if named else ""


def _declarator(node: SgNode) -> SgNode | None:
    """The innermost declarator: how C and C++ name a function."""
    found = None
    for _ in range(_WRAPPED):
        inner = node.field("declarator")
        if inner is None:
            break
        found = node = inner
    return found
