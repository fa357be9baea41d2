"""The wiki as a bundle of the Open Knowledge Format, version 0.3: a folder of Markdown that other tools read.

Each page is a concept, told by its path; its front matter has the core fields of the format, and below ``kb`` what else
is known. Every folder has an ``index.md``, the first names the version. Documents are not copied, so links to them
become text.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from kb_pipeline.records import PageView

VERSION = "0.3"
_TYPE = "Topic"
_DOCUMENT = re.compile(r"(?<!\\)\[((?:\\.|[^\[\]\\])*)\]\((?:\.\./)*normalized/[^()\s]+\)")


def write_bundle(pages: Sequence[PageView], folder: Path) -> int:
    """Write the bundle below ``folder``; how many concepts. Files of an earlier one that are none any more stay."""
    folders: dict[str, list[PageView]] = {}
    for view in pages:
        _write(folder / view.page.path, _concept(view))
        folders.setdefault(view.page.path.rpartition("/")[0], []).append(view)
    for name, views in folders.items():
        lines = (_entry(v.page.title, v.page.path.rpartition("/")[2], v.brief.summary) for v in views)
        _write(folder / name / "index.md", f"# {views[0].page.category}\n\n{''.join(lines)}")
    named = sorted((views[0].page.category, name) for name, views in folders.items())
    root = "".join(_entry(category, f"{name}/index.md", "") for category, name in named)
    _write(folder / "index.md", f'---\nokf_version: "{VERSION}"\n---\n\n# Wiki\n\n{root}')
    return len(pages)


def _concept(view: PageView) -> str:
    brief = view.brief
    waits = view.front.get("status") != "current" or view.clashes or view.proposal
    fields: Mapping[str, object] = {
        "type": _TYPE,
        "title": view.page.title,
        "description": brief.summary,
        "tags": list(brief.tags),
        "status": "draft" if waits else "stable",
        "kb": {"id": brief.id, "aliases": list(brief.aliases), "documents": list(brief.docs), "updated": brief.updated},
    }
    front = "\n".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items())
    text = view.text.partition("\n---\n")[2] if view.text.startswith("---\n") else view.text
    return f"---\n{front}\n---\n\n{_DOCUMENT.sub(lambda m: m[1], text).lstrip()}"


def _entry(title: str, path: str, summary: str) -> str:
    told = f": {summary}" if summary else ""
    return f"- [{title}]({path.replace(' ', '%20')}){told}\n"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
