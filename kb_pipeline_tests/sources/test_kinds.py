"""The table of source types and what it checks in sources.yaml."""

from pathlib import Path

import pytest

from kb_pipeline import settings
from kb_pipeline.errors import SettingsError
from kb_pipeline.sources import KINDS, check_types

SOURCES = """\
version: 1
sources:
  - id: notes
    type: pfd
    uri: notes
  - id: docs
    type: local
    uri: [docs, "https://example.com/"]
    options:
      folow_links: true
      max_mb: 0
      source_type: novel
  - id: site
    type: web
    uri: example.com
    options: {sitemap: "yes", max_pages: true}
  - id: login
    type: web
    uri: https://me:secret@example.com/
"""


def test_every_type_lists_and_tells_its_options() -> None:
    """Each row of KINDS has a connector, and says whether it is remote and what it may be told."""
    assert {name: kind.remote for name, kind in KINDS.items()} == {"local": False, "web": True}
    assert all(kind.options for kind in KINDS.values())


def test_mistakes_of_types_are_listed_with_the_rest(tmp_path: Path) -> None:
    """Unknown types and options, values out of bounds and addresses of the wrong kind all come at once, by line."""
    (tmp_path / "sources.yaml").write_text(SOURCES)
    with pytest.raises(SettingsError) as caught:
        settings.load(tmp_path, {}, check_types)
    assert list(caught.value.mistakes) == [
        (
            "sources.yaml:4: source 'notes': unknown type 'pfd'. Known types: local, web. "
            "To add one, put kb/plugins/pfd.py there."
        ),
        (
            "sources.yaml:8: source 'docs': uri 'https://example.com/' is a URL, not a path. "
            "Write type: web, or the path of a file or folder."
        ),
        (
            "sources.yaml:10: source 'docs': unknown option 'folow_links'. Did you mean 'follow_links'? "
            "Known options: follow_links, max_mb, source_type."
        ),
        ("sources.yaml:11: source 'docs': option 'max_mb' must be a whole number of 1 or more, not 0. Correct it."),
        (
            "sources.yaml:12: source 'docs': option 'source_type' must be one of note, doc, web, paper, code, chat, "
            "mail, ticket, table, human, not 'novel'. Correct it."
        ),
        (
            "sources.yaml:15: source 'site': uri 'example.com' does not begin with http:// or https://. "
            "Write a URL such as https://example.com/page."
        ),
        "sources.yaml:16: source 'site': option 'sitemap' must be true or false, not 'yes'. Correct it.",
        (
            "sources.yaml:16: source 'site': option 'max_pages' must be a whole number of 1 or more, not True. "
            "Correct it."
        ),
        (
            "sources.yaml:19: source 'login': uri 'https://…@example.com/' carries a name or password, "
            "which would end up in citations. Write a URL such as https://example.com/page."
        ),
    ]


def test_a_valid_file_has_no_mistakes(tmp_path: Path) -> None:
    """Every documented option passes."""
    (tmp_path / "sources.yaml").write_text("""\
version: 1
sources:
  - id: notes
    type: local
    uri: notes
    options: {follow_links: true, max_mb: 10, source_type: note}
  - id: site
    type: web
    uri: https://example.com/sitemap.xml
    options: {sitemap: true, max_pages: 10, allow_private: false, source_type: doc}
""")
    assert check_types(settings.load(tmp_path, {}, check_types)) == []
