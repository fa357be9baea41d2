"""Source code and configuration → itself, verbatim; ``metadata["language"]`` names the language."""

from typing import Final

from kb_pipeline.convert.cleaning import clean
from kb_pipeline.convert.decoding import decode
from kb_pipeline.convert.versions import version_of
from kb_pipeline.errors import ConversionError
from kb_pipeline.records import Converted, RawDoc

# Extension to language, in the names that ast-grep and Markdown fences use.
LANGUAGES: Final = {
    extension: language
    for language, extensions in {
        "bash": "sh bash zsh ksh",
        "bat": "bat cmd",
        "c": "c h",
        "clojure": "clj cljs edn",
        "cmake": "cmake",
        "cpp": "cc cpp cxx hh hpp hxx",
        "csharp": "cs",
        "css": "css scss less",
        "cuda": "cu cuh",
        "dart": "dart",
        "diff": "diff patch",
        "dockerfile": "dockerfile",
        "elixir": "ex exs",
        "erlang": "erl hrl",
        "fsharp": "fs fsx",
        "go": "go",
        "graphql": "graphql gql",
        "groovy": "groovy gradle",
        "haskell": "hs",
        "hcl": "tf hcl tfvars",
        "ini": "ini cfg conf properties env",
        "java": "java",
        "javascript": "js mjs cjs jsx",
        "json": "json jsonl json5 ndjson geojson",
        "julia": "jl",
        "kotlin": "kt kts",
        "lua": "lua",
        "makefile": "makefile mk",
        "nix": "nix",
        "ocaml": "ml mli",
        "perl": "pl pm",
        "php": "php",
        "powershell": "ps1 psm1",
        "proto": "proto",
        "python": "py pyi pyx",
        "r": "r",
        "ruby": "rb",
        "rust": "rs",
        "scala": "scala sc",
        "sql": "sql",
        "svelte": "svelte",
        "swift": "swift",
        "toml": "toml",
        "tsx": "tsx",
        "typescript": "ts mts cts",
        "vue": "vue",
        "xml": "xml xsd xsl xslt wsdl",
        "yaml": "yaml yml",
        "zig": "zig",
    }.items()
    for extension in extensions.split()
}
# A line this long comes from a tool: minified code holds no knowledge that a person wrote.
_MINIFIED: Final = 20_000


def convert(doc: RawDoc, kind: str) -> Converted:
    """The code of ``doc``, trailing white space aside. Raises ``ConversionError`` for minified code."""
    text, _, warnings = decode(doc.content)
    text = clean(text)
    language = LANGUAGES.get(kind, "")
    if language in ("javascript", "css") and max(map(len, text.split("\n"))) > _MINIFIED:
        cure = "Exclude it in sources.yaml, or add the source it was made from."
        raise ConversionError("it is minified code.", where=doc.doc_id, cure=cure)
    return Converted(
        text=text,
        converter="kb_pipeline",
        converter_version=version_of("kb_pipeline"),
        title=doc.name.rsplit("/", 1)[-1],
        source_type="code",
        metadata={"language": language} if language else {},
        warnings=warnings,
    )
