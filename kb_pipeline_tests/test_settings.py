"""The loader of sources.yaml, taxonomy.yaml, .env and the environment."""

import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from croniter import croniter
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline import settings
from kb_pipeline.errors import SettingsError
from kb_pipeline.refresh import refresh_mistake
from kb_pipeline.settings import Settings, slug

SOURCES = """\
version: 1
sources:
  - id: notes
    type: local
    uri: notes
    include: ["*.md"]
    license: CC-BY-4.0
    owners: [team-a]
  - id: site
    type: web
    uri: [https://example.com/a, https://example.com/b]
    refresh: "0 3 * * 1"
    options: {max_pages: 20}
projects:
  - id: all
    name: Everything
    sources: [notes, site]
default_project: all
settings:
  chunk_target: 900
  dedup_candidate: 1
"""
TAXONOMY = """\
version: 1
categories:
  - name: Serving & Scheduling
    description: How requests are batched.
    keywords: [batch, queue]
tags:
  kv-cache: [KV cache]
  batching: []
"""
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def write(root: Path, sources: str = SOURCES, taxonomy: str = TAXONOMY, dotenv: str = "") -> Path:
    (root / "sources.yaml").write_text(sources, encoding="utf-8")
    (root / "taxonomy.yaml").write_text(taxonomy, encoding="utf-8")
    if dotenv:
        (root / ".env").write_text(dotenv, encoding="utf-8")
    return root


def mistakes(root: Path, environ: dict[str, str] | None = None) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        settings.load(root, environ or {})
    return caught.value.mistakes


def entry(**keys: str) -> str:
    """A sources.yaml of one entry, whose id stands in line 3 and each further key a line below."""
    values = {"id": "notes", "type": "local", "uri": "notes", **keys}
    lines = [f"    {key}: {value}" for key, value in values.items()]
    return "version: 1\nsources:\n  -" + lines[0][3:] + "\n" + "\n".join(lines[1:]) + "\n"


def test_a_valid_knowledge_base_loads(tmp_path: Path) -> None:
    """Every field of both files arrives, one text standing for a list of one."""
    loaded = settings.load(write(tmp_path), {})
    notes, site = loaded.sources
    assert (notes.uri, notes.include, notes.license, notes.refresh) == (("notes",), ("*.md",), "CC-BY-4.0", "24h")
    assert (site.uri, site.options) == (("https://example.com/a", "https://example.com/b"), {"max_pages": 20})
    assert loaded.projects[0].sources == ("notes", "site")
    assert loaded.default_project == "all"
    assert loaded.options.chunk_target == 900
    assert loaded.options.dedup_candidate == 1.0
    assert loaded.taxonomy.categories[0].keywords == ("batch", "queue")
    assert loaded.taxonomy.tags == {"kv-cache": ("KV cache",), "batching": ()}
    assert (loaded.lines["site"], loaded.lines["site.type"], loaded.lines["site.options.max_pages"]) == (9, 10, 13)
    assert loaded.kb == tmp_path / "kb"


def test_the_environment_wins_over_dotenv_over_the_file(tmp_path: Path) -> None:
    """KB_<OPTION> in the environment is stronger than in .env, which is stronger than settings:."""
    write(tmp_path, dotenv="export KB_CHUNK_TARGET='1000'\nKB_ENGINE=openai\nKB_EMBED_CHUNKS=true\nOTHER=$x\n")
    loaded = settings.load(tmp_path, {"KB_ENGINE": "extractive", "KB_EVAL_ITEMS": "", "KB_LLM_API_KEY": "secret"})
    options = loaded.options
    assert (options.chunk_target, options.engine, options.embed_chunks, options.eval_items) == (
        1000,
        "extractive",
        True,
        100,
    )


def test_every_mistake_is_listed_at_once(tmp_path: Path) -> None:
    """Mistakes of all files come in one error, in order, each with its line, what is wrong and the cure."""
    sources = """\
version: 1
sources:
  - id: My Notes
    type: local
    uri: notes
    inclde: ["*.md"]
  - id: notes
    type: local
    uri: [a, 3]
    license:
    refresh: every day
  - id: notes
    type: local
    uri: x
    refresh: "99 * * * *"
  - id: human
    type: local
    uri: []
  - just text
projects:
  - id: p
    name: P
    sources: [notes, nots]
    sources: [x]
  - id: q
default_project: z
setings: {}
settings:
  chunk_min: "3"
  dedup_candidate: 2
"""
    taxonomy = """\
version: 2
categories:
  - name: Serving & Scheduling
    description: x
    keywords: [a]
  - name: serving scheduling
    description: " "
  - name: UNCLASSIFIED
    description: d
    keywords: a
tags:
  kv-cache: [KV cache, kvcache]
  KV_Cache: kvcache
  12: [3]
"""
    found = mistakes(
        write(tmp_path, sources, taxonomy, dotenv="# c\n\nKB_CHUNK_MIN=zero\nKB_EMBEDER=x\n"), {"KB_EVAL_ITEMS": "-3"}
    )
    heads = [re.split(r"\. |: an id holds| \(\[", line)[0] for line in found]
    assert heads == [
        "sources.yaml:3: source id 'My Notes' is not allowed",
        "sources.yaml:6: source 'My Notes': unknown key 'inclde'",
        "sources.yaml:9: source 'notes': 'uri[1]' must be text, not 3",
        "sources.yaml:10: source 'notes': 'license' has no value",
        "sources.yaml:11: source 'notes': refresh 'every day' is neither an interval, a cron line nor manual",
        "sources.yaml:12: source id 'notes' is taken by line 7",
        "sources.yaml:15: source 'notes': refresh '99 * * * *' is no valid cron line",
        "sources.yaml:16: the id 'human' is kept for items written by hand",
        "sources.yaml:18: source 'human': 'uri' is empty",
        "sources.yaml:19: source 5: must be a mapping of keys to values, not 'just text'",
        "sources.yaml:23: project 'p': unknown source 'nots'",
        "sources.yaml:24: the key 'sources' stands twice, first in line 23",
        "sources.yaml:25: project 'q': 'name' is missing",
        "sources.yaml:25: project 'q': 'sources' is missing",
        "sources.yaml:26: unknown project 'z'",
        "sources.yaml:27: unknown key 'setings'",
        "sources.yaml:29: settings: 'chunk_min' must be a whole number, not '3'",
        "sources.yaml:30: settings: 'dedup_candidate' must be less than or equal to 1, not 2",
        "taxonomy.yaml:1: unknown version 2",
        "taxonomy.yaml:6: category 'serving scheduling': 'keywords' is missing",
        "taxonomy.yaml:6: the folder name of category 'serving scheduling' is taken by line 3",
        "taxonomy.yaml:7: category 'serving scheduling': 'description' is empty",
        "taxonomy.yaml:8: category 'UNCLASSIFIED': this name cannot be used",
        "taxonomy.yaml:13: alias 'kvcache' of tag 'KV_Cache' is taken by line 12",
        "taxonomy.yaml:13: tag 'KV_Cache' is not in normal form: lower case, words joined by -",
        "taxonomy.yaml:14: tag '12': a tag is text, its aliases a list of texts",
        ".env:3: KB_CHUNK_MIN must be a whole number, not 'zero'",
        ".env:4: unknown variable KB_EMBEDER",
        "environment: KB_EVAL_ITEMS must be greater than or equal to 0, not '-3'",
    ]


def test_a_near_miss_names_what_was_meant(tmp_path: Path) -> None:
    """An unknown key close to a known one is answered with a suggestion."""
    (line,) = mistakes(write(tmp_path, entry(ownrs="[a]")))
    assert "Did you mean 'owners'?" in line


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("version: 1\nsources: [\n", 3, "not valid YAML"),
        (entry(refresh="* * * * *"), 6, "in quotes"),
        (entry(license="a: b"), 6, "holds a colon"),
        ("version: 1\nsources:\n\t- id: x\n", 3, "spaces, not tabs"),
        ("version: 1\nsources: \x01\n", 1, "control characters"),
        (entry(license="!!python/object:os.system x"), 6, "cannot be read"),
        ("version: 1\nsources: &a [*a]\n", 2, "stands inside the value"),
        ("version: 1\nsources: {}\n", 2, "must be a list"),
        ("version: 1\nsources: []\n? [a]\n: 1\n", 3, "plain word"),
        ("- a\n", 1, "must be a mapping"),
        ("", 1, "must be a mapping"),
        ("sources: []\n", 1, "'version' is missing"),
        ("version: true\nsources: []\n", 1, "unknown version True"),
        ("version: 1\n", 1, "'sources' is missing"),
        ("version: 1\n" + "[" * 5000, 2, "nesting"),
        (entry(id="3"), 3, "Put it in quotes"),
        (entry(id="no"), 3, "must be text, not False"),
        (entry(license="2026-02-30"), 6, "cannot be read"),
        (entry(options="[a]"), 6, "must be a mapping"),
        (entry(include="{a: b}"), 6, "must be a list"),
    ],
)
def test_malformed_files_are_named_with_their_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    """Whatever is wrong with the YAML, the message has file, line and cure, and is never a traceback."""
    found = mistakes(write(tmp_path, text))
    assert any(m.startswith(f"sources.yaml:{line}: ") and words in m for m in found), found


def test_an_alias_bomb_is_refused(tmp_path: Path) -> None:
    """Aliases that would expand without bound are a mistake, found at once."""
    bomb = "version: 1\nsources: []\na0: &a0 [x, x]\n" + "".join(
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 30)
    )
    assert any("aliases expand to more than 200,000 values" in m for m in mistakes(write(tmp_path, bomb)))


def test_an_anchor_may_be_shared(tmp_path: Path) -> None:
    """Anchors and merge keys work as YAML says: what is written out wins."""
    text = """\
version: 1
sources:
  - &base {id: a, type: local, uri: x, owners: &people [ann, bob]}
  - <<: *base
    id: b
    license: MIT
  - {id: c, type: local, uri: y, owners: *people}
"""
    a, b, c = settings.load(write(tmp_path, text), {}).sources
    assert (b.id, b.type, b.uri, b.owners, b.license) == ("b", "local", a.uri, a.owners, "MIT")
    assert c.owners == ("ann", "bob")


def test_a_file_that_is_not_utf8_is_named_with_its_line(tmp_path: Path) -> None:
    """Bytes of another encoding are a mistake with the line they stand in; a byte-order mark is none."""
    write(tmp_path)
    (tmp_path / "taxonomy.yaml").write_bytes("version: 1\ncategories: []\n# Größe\n".encode("latin-1"))
    assert mistakes(tmp_path) == ("taxonomy.yaml:3: the file is not UTF-8. Save it as UTF-8.",)
    (tmp_path / "taxonomy.yaml").write_bytes(b"\xef\xbb\xbfversion: 1\ncategories: []\n")
    assert settings.load(tmp_path, {}).taxonomy.categories == ()


def test_rooms_above_may_add_mistakes(tmp_path: Path) -> None:
    """A check sees every entry, also those with other mistakes, and its lines are sorted among the file's."""
    seen: list[str] = []

    def check(loaded: Settings) -> list[str]:
        seen.extend(s.type for s in loaded.sources)
        return ["sources.yaml:4: source 'notes': unknown type 'pfd'. Known types: local."]

    write(tmp_path, entry(type="pfd", refresh="often", license=""))
    with pytest.raises(SettingsError) as caught:
        settings.load(tmp_path, {}, check)
    assert [m.split(":")[1] for m in caught.value.mistakes] == ["4", "6", "7"]
    assert seen == ["pfd"]


def test_a_missing_path_is_no_mistake(tmp_path: Path) -> None:
    """A source whose path does not exist is valid: whether it can be read is asked when it is fetched."""
    assert settings.load(write(tmp_path, entry(uri="/nowhere/at/all")), {}).sources[0].uri == ("/nowhere/at/all",)


def test_without_a_taxonomy_there_are_no_categories(tmp_path: Path) -> None:
    """taxonomy.yaml may be absent."""
    (tmp_path / "sources.yaml").write_text(SOURCES)
    assert settings.load(tmp_path, {}).taxonomy.categories == ()


def test_chunk_sizes_must_rise(tmp_path: Path) -> None:
    """Options that contradict each other are a mistake wherever they were set."""
    (line,) = mistakes(write(tmp_path), {"KB_CHUNK_MIN": "5000"})
    assert line.startswith("settings: chunk_min, chunk_target and chunk_max must rise, but are 5000, 900, 2400.")


def test_the_root_is_found_upwards(tmp_path: Path) -> None:
    """find_root looks in the folder itself and above it, and otherwise says how to begin."""
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    with pytest.raises(SettingsError, match="kb init"):
        settings.find_root(below)
    write(tmp_path)
    assert settings.find_root(below) == tmp_path
    with pytest.raises(SettingsError, match="kb init"):
        settings.load(below, {})


def test_an_unreadable_file_is_an_error_with_a_cure(tmp_path: Path) -> None:
    """A sources.yaml that is a folder is a settings error, not a traceback."""
    (tmp_path / "sources.yaml").mkdir()
    with pytest.raises(SettingsError, match="cannot be read"):
        settings.load(tmp_path, {})


@pytest.mark.parametrize(
    ("refresh", "ago", "due"),
    [
        ("manual", None, False),
        ("manual", timedelta(days=999), False),
        ("6h", None, True),
        ("6h", timedelta(hours=5, minutes=59), False),
        ("6h", timedelta(hours=6), True),
        ("30m", timedelta(minutes=31), True),
        ("7d", timedelta(days=6), False),
        ("2w", timedelta(days=14), True),
        ("6h", timedelta(hours=-1), True),
        ("0 3 * * *", timedelta(hours=8), False),
        ("0 3 * * *", timedelta(hours=10), True),
        ("0 12 * * *", timedelta(hours=1), True),
        ("0 13 * * *", timedelta(hours=1), False),
    ],
)
def test_refresh_says_when_a_source_is_due(refresh: str, ago: timedelta | None, due: bool) -> None:
    """Manual never; an interval when it has passed; a cron line at its first tick after the last fetch."""
    assert settings.refresh_due(refresh, None if ago is None else NOW - ago, NOW) is due


@pytest.mark.parametrize("refresh", ["", "6", "0h", "6s", "-3h", "1.5h", "6 h", "@daily", "0 0 31 2 *", "a b c d e"])
def test_a_refresh_that_cannot_be_followed_is_refused(refresh: str) -> None:
    """Neither a malformed interval nor a cron line without any tick is accepted."""
    assert refresh_mistake(refresh)


FIELD = st.one_of(
    st.just("*"),
    st.integers(0, 70).map(str),
    st.builds("{}-{}".format, st.integers(0, 40), st.integers(0, 40)),
    st.builds("*/{}".format, st.integers(0, 40)),
    st.builds("{},{}".format, st.integers(0, 40), st.integers(0, 40)),
    st.builds("{}-{}/{}".format, st.integers(0, 40), st.integers(0, 40), st.integers(0, 9)),
)


@given(st.lists(FIELD, min_size=5, max_size=5).map(" ".join))
def test_a_cron_line_that_is_accepted_can_be_followed(refresh: str) -> None:
    """Whatever passes has a next tick, whether or not the cron library was asked."""
    if refresh_mistake(refresh) is None:
        assert croniter(refresh, NOW).get_next(datetime) > NOW


@given(st.text())
def test_a_slug_is_a_stable_folder_name(name: str) -> None:
    """A slug holds letters, digits and single hyphens alone, and is its own slug."""
    made = slug(name)
    assert made == slug(made)
    assert not made.startswith("-")
    assert "--" not in made
    assert all(c.isalnum() or c == "-" for c in made)


def test_loading_imports_nothing_heavy(tmp_path: Path) -> None:
    """Start-up stays cheap: plain cron lines need no croniter, and dotenv waits for a .env."""
    write(tmp_path, entry(refresh="0 3,15 * * 1-5"))
    code = (
        "import sys; from pathlib import Path; from kb_pipeline import settings; settings.load(Path(sys.argv[1]));"
        "print([m for m in ('croniter', 'dotenv', 'httpx2', 'dagster', 'numpy') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
