"""Names and versions of the libraries that convert. Loads none of them."""

from functools import cache
from importlib.metadata import PackageNotFoundError, version

from kb_pipeline import __version__

LIBRARIES = (
    "charset-normalizer",
    "ftfy",
    "htmldate",
    "justext",
    "kreuzberg",
    "liteparse",
    "lxml",
    "pypdf",
    "pyyaml",
    "trafilatura",
)


@cache
def version_of(library: str) -> str:
    """The installed version, ``"absent"`` where there is none; ``kb_pipeline`` is this package."""
    if library == "kb_pipeline":
        return __version__
    try:
        return version(library)
    except PackageNotFoundError:
        return "absent"


def converter_versions() -> dict[str, str]:
    """Library to version of everything that shapes a conversion, for recipes."""
    return {library: version_of(library) for library in LIBRARIES}
