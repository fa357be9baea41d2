"""The neighbourhood of a page as SVG text: every page in it is a link. Shared by the server and the static site."""

from collections.abc import Callable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from kb_pipeline.records import Neighbourhood
from kb_pipeline.rules.pages.neighbourhood import drawn

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "pages" / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def graph(around: Neighbourhood, address: Callable[[str], str]) -> str:
    """The drawing; empty for a page that stands alone. ``address`` is where a page, by its path, is read."""
    if not around.neighbours:
        return ""
    return _TEMPLATES.get_template("graph.html").render(around=around, drawing=drawn(around), address=address)
