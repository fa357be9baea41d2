"""What every command shares: its options, the knowledge base it opens, and JSON for programs."""

import getpass
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic_core import to_jsonable_python

from kb_pipeline.records import Record

Root = Annotated[
    Path | None,
    typer.Option(
        "--root", envvar="KB_ROOT", help="Folder that holds sources.yaml; found upwards from here by default."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Sources = Annotated[list[str] | None, typer.Option("--source", "-s", metavar="SOURCE", help="Only these sources.")]

AsOf = Annotated[
    str | None, typer.Option("--as-of", metavar="DATE", help="As it was known then: a day, or a second in UTC.")
]


def found_root(root: Path | None) -> Path:
    """The folder of the knowledge base: ``root``, or found upwards from the current folder where none is named."""
    from kb_pipeline.api import find_root

    return root.absolute() if root else find_root(Path.cwd())


def opened(root: Path | None) -> Any:
    """The knowledge base below ``root``, found upwards from the current folder where none is named."""
    from kb_pipeline.api import shared

    return shared(found_root(root))


def asking(root: Path | None) -> Any:
    """The same for one who asks at this terminal, so that the log of queries knows who it was."""
    from kb_pipeline.api.visiting import Visitor
    from kb_pipeline.records import Principal

    try:
        name = getpass.getuser()
    except (KeyError, OSError):  # a container may know no name for its user
        name = "local"
    return Visitor(opened(root), Principal(name=name, role="admin"), "cli", "person")


def print_json(value: Record | Sequence[Any] | Mapping[str, Any]) -> None:
    """A record, or what holds records and what JSON has."""
    typer.echo(json.dumps(to_jsonable_python(value), ensure_ascii=False, indent=2))
