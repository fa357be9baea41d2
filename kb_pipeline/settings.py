"""Settings, frozen, read once a run or tick from environment, ``.env``, ``sources.yaml`` and ``taxonomy.yaml``.

Knows the files' shape, not what a source type means: ``sources/`` checks types.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from kb_pipeline.errors import SettingsError
from kb_pipeline.records import Project, Record, Source, SourceType, Taxonomy
from kb_pipeline.refresh import refresh_due
from kb_pipeline.registry import read_sources, read_taxonomy, slug
from kb_pipeline.yaml_lines import Located, expected, near, read

__all__ = ["Endpoint", "Options", "Settings", "find_root", "load", "refresh_due", "slug"]

SOURCES, TAXONOMY, DOTENV = "sources.yaml", "taxonomy.yaml", ".env"
PREFIX = "KB_"


HALF_LIVES: Mapping[SourceType, int] = {
    "chat": 90,
    "mail": 180,
    "ticket": 180,
    "note": 365,
    "web": 730,
    "doc": 1095,
    "code": 1095,
    "table": 1095,
    "paper": 3650,
    "human": 3650,
}
"""Days after which what a source of a type says weighs half where two hits are equal otherwise."""


class Options(Record):
    """Numbers that a user may set in ``settings:`` of ``sources.yaml`` or as ``KB_<NAME>`` in the environment."""

    engine: str = Field("auto", min_length=1)
    embedder: str = Field("minilm", min_length=1)
    normalize: Literal["converted", "all", "none"] = "converted"
    chunk_min: int = Field(400, ge=1)
    chunk_target: int = Field(1200, ge=1)
    chunk_max: int = Field(2400, ge=1)
    embed_chunks: bool = False
    dedup_candidate: float = Field(0.8, ge=0, le=1)
    category_margin: float = Field(0.02, ge=0, le=1)
    eval_items: int = Field(100, ge=0)
    eval_floor_recall10: float = Field(0.7, ge=0, le=1)
    eval_tolerance: float = Field(0.05, ge=0, le=1)
    eval_answers: int = Field(10, ge=0)
    eval_model_answers: int = Field(0, ge=0)
    rerank: Literal["off", "heuristic", "engine"] = "heuristic"
    half_lives: Mapping[SourceType, Annotated[int, Field(ge=1)]] = Field(default_factory=dict, validate_default=True)
    answer_threshold: float = Field(5.0, ge=0, le=10)
    ask_seconds: float = Field(10, gt=0)
    unquotable_licenses: tuple[str, ...] = ()
    retained_generations: int = Field(3, ge=1)
    convert_memory_mb: int = Field(1536, ge=64)
    convert_seconds: int = Field(30, ge=1)
    workers: int | None = Field(None, ge=0, le=64)
    sensor_seconds: int = Field(15, ge=1)
    audit_days: int = Field(90, ge=1)
    audit_questions: bool = True
    token_rpm: int = Field(600, ge=1)

    @field_validator("half_lives")
    @classmethod
    def _all_half_lives(cls, given: Mapping[SourceType, int]) -> Mapping[SourceType, int]:
        """Days after which a source type weighs half: those that are given, over what there is without."""
        return {**HALF_LIVES, **given}


class Endpoint(Record):
    """An OpenAI-compatible endpoint: ``KB_LLM_<NAME>`` in the environment, and ``KB_EMBED_MODEL``.

    ``models`` maps a task to its own model (``KB_LLM_MODEL_<TASK>``). ``rpm`` and ``tpm`` are requests and tokens a
    minute, ``timeout`` seconds that one request may take in all, budgets what one run may spend. The key is shown by
    no repr, message or dump.
    """

    base_url: str
    api_key: SecretStr = SecretStr("")
    model: str = ""
    models: Mapping[str, str] = Field(default_factory=dict)
    concurrency: int = Field(8, ge=1, le=1024)
    rpm: int | None = Field(None, ge=1)
    tpm: int | None = Field(None, ge=1)
    timeout: float = Field(120, gt=0)
    budget_usd: float | None = Field(None, ge=0)
    budget_tokens: int | None = Field(None, ge=0)
    embed_model: str = ""

    @field_validator("base_url")
    @classmethod
    def _address(cls, url: str) -> str:
        """Web addresses alone, and no credentials in them: they would be printed."""
        if not re.match(r"https?://[^/?#@]+(/[^?#@]*)?$", url):
            raise PydanticCustomError("address", "a web address without a user name, such as http://localhost:8000/v1")
        return url.rstrip("/")

    def model_of(self, task: str) -> str:
        """The model that answers ``task``; empty where none is named."""
        return self.models.get(task, self.model)


@dataclass(frozen=True)
class Settings:
    """Everything a run needs to know before it starts. ``root`` holds ``sources.yaml`` and ``kb/``.

    ``lines`` maps ``<source id>``, and that with ``.type``, ``.uri`` or ``.options.<name>`` behind it, to lines of
    ``sources.yaml``, for messages only.
    """

    root: Path
    sources: tuple[Source, ...] = ()
    projects: tuple[Project, ...] = ()
    taxonomy: Taxonomy = field(default_factory=Taxonomy)
    options: Options = field(default_factory=Options)
    default_project: str | None = None
    endpoint: Endpoint | None = None
    lines: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)

    @property
    def kb(self) -> Path:
        """The folder of the knowledge base itself."""
        return self.root / "kb"

    def source(self, source_id: str) -> Source:
        """The source of that id; ``KeyError`` if there is none."""
        return {s.id: s for s in self.sources}[source_id]


Check = Callable[[Settings], Sequence[str]]


def find_root(start: Path) -> Path:
    """The nearest folder at or above ``start`` that holds ``sources.yaml``. Raises ``SettingsError`` if none does."""
    start = start.absolute()
    for folder in (start, *start.parents):
        if (folder / SOURCES).is_file():
            return folder
    raise _no_root(start, f"neither this folder nor one above it holds {SOURCES}.")


def load(root: Path, environ: Mapping[str, str] | None = None, check: Check | None = None) -> Settings:
    """The settings of the knowledge base at ``root``; ``environ`` defaults to the process's own environment.

    ``KB_<OPTION>`` in ``environ`` wins over ``.env``, which wins over ``settings:`` in ``sources.yaml``. ``check``
    may add mistakes that only rooms above know (``sources.check_types``). A missing ``taxonomy.yaml`` is an empty one.

    Raises ``SettingsError`` with every mistake of all files in ``mistakes``, each ``file:line: what. cure``.
    """
    root = root.absolute()
    sources, taxonomy = _open(root / SOURCES), _open(root / TAXONOMY)
    if sources is None:
        raise _no_root(root, f"there is no {SOURCES} here.")
    registry = read_sources(sources)
    variables = list(_variables(root, os.environ if environ is None else environ))
    options, wrong = _options(sources, variables)
    endpoint, wrong_there = _endpoint(variables)
    settings = Settings(
        root=root,
        sources=registry.sources,
        projects=registry.projects,
        taxonomy=read_taxonomy(taxonomy) if taxonomy else Taxonomy(),
        options=options,
        default_project=registry.default_project,
        endpoint=endpoint,
        lines=registry.lines,
    )
    mistakes = _in_order([*sources.rendered(), *(check(settings) if check else ())])
    mistakes += [*(taxonomy.rendered() if taxonomy else ()), *wrong, *wrong_there]
    if mistakes:
        what = f"{len(mistakes)} mistake{'s' if len(mistakes) > 1 else ''} in the settings."
        raise SettingsError(what, where=str(root), mistakes=tuple(mistakes))
    return settings


def _no_root(where: Path, what: str) -> SettingsError:
    cure = "Run `kb init DIR` to start a knowledge base, or name one with --root DIR or KB_ROOT."
    return SettingsError(what, where=str(where), cure=cure)


def _open(path: Path) -> Located | None:
    try:
        return read(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SettingsError(
            f"cannot be read: {error.strerror}.", where=str(path), cure="Make it a readable file."
        ) from error


def _in_order(mistakes: Sequence[str]) -> list[str]:
    """Lines of one file sorted by line; what has no line comes first."""

    def line(mistake: str) -> int:
        number = mistake.split(":", 2)[1:2]
        return int(number[0]) if number and number[0].isdigit() else 0

    return sorted(mistakes, key=line)


Variable = tuple[str, str, str]


def _options(file: Located, variables: Sequence[Variable]) -> tuple[Options, list[str]]:
    """The options after ``settings:`` and the variables, and the mistakes that are not in ``file`` itself."""
    raw = file.data.get("settings") if isinstance(file.data, Mapping) else None
    options = (None if raw is None else file.record(Options, raw, ("settings",), "settings: ", {})) or Options()
    found: dict[str, object] = {}
    mistakes: list[str] = []
    for place, variable, text in variables:
        name = variable.removeprefix(PREFIX).lower()
        if name not in Options.model_fields:
            if hint := near(variable, [PREFIX + known.upper() for known in Options.model_fields], cutoff=0.85):
                mistakes.append(f"{place}: unknown variable {variable}. {hint}Correct or remove it.")
            continue
        try:
            found[name] = getattr(Options.model_validate({name: text}), name)
        except ValidationError as error:
            wanted = expected(error.errors(include_url=False)[0])
            mistakes.append(f"{place}: {variable} must be {wanted}, not {text!r}. Correct or remove it.")
    options = options.model_copy(update=found)
    sizes = (options.chunk_min, options.chunk_target, options.chunk_max)
    if not sizes[0] < sizes[1] < sizes[2]:
        rule = "chunk_min, chunk_target and chunk_max must rise"
        mistakes.append(f"settings: {rule}, but are {', '.join(map(str, sizes))}. Correct one of them.")
    return options, mistakes


_LLM, _TASK = "KB_LLM_", "KB_LLM_MODEL_"
_ENDPOINT = {f"{_LLM}{name.upper()}": name for name in Endpoint.model_fields if name not in {"models", "embed_model"}}
_ENDPOINT["KB_EMBED_MODEL"] = "embed_model"


def _endpoint(variables: Sequence[Variable]) -> tuple[Endpoint | None, list[str]]:
    """The endpoint that the variables name, or None without ``KB_LLM_BASE_URL``; and their mistakes."""
    found: dict[str, tuple[str, str, str]] = {}
    models: dict[str, str] = {}
    mistakes: list[str] = []
    for place, variable, text in variables:
        if variable in _ENDPOINT:
            found[_ENDPOINT[variable]] = (place, variable, text)
        elif variable.startswith(_TASK):
            models[variable.removeprefix(_TASK).lower()] = text
        elif variable.startswith(_LLM):
            mistakes.append(f"{place}: unknown variable {variable}. {near(variable, _ENDPOINT)}Correct or remove it.")
    try:
        endpoint = Endpoint.model_validate(
            {"base_url": "", "models": models} | {n: t for n, (_, _, t) in found.items()}
        )
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            name = str(fault["loc"][0])
            if name in found:
                place, variable, text = found[name]
                wanted = fault["msg"] if fault["type"] == "address" else f"{expected(fault)}, not {text!r}"
                mistakes.append(f"{place}: {variable} must be {wanted}. Correct or remove it.")
        return None, mistakes
    if not (endpoint.model or models or endpoint.embed_model):
        place = found["base_url"][0]
        mistakes.append(f"{place}: KB_LLM_BASE_URL names no model. Set KB_LLM_MODEL too, or KB_EMBED_MODEL.")
    return endpoint, mistakes


def _variables(root: Path, environ: Mapping[str, str]) -> Iterator[Variable]:
    """``(place, name, text)`` of each ``KB_…`` variable that is not empty, the stronger place last."""
    dotenv = root / DOTENV
    if dotenv.is_file():
        from dotenv.parser import parse_stream  # most knowledge bases have no .env, and start-up counts

        with dotenv.open(encoding="utf-8-sig") as stream:
            for binding in parse_stream(stream):
                start = binding.original.string
                line = binding.original.line + start[: len(start) - len(start.lstrip())].count("\n")
                if binding.key and binding.key.startswith(PREFIX) and binding.value:
                    yield f"{DOTENV}:{line}", binding.key, binding.value
    for name in sorted(environ):
        if name.startswith(PREFIX) and environ[name]:
            yield "environment", name, environ[name]
