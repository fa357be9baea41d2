"""The command line: parse, call one verb, render. Knows no stage and no store."""

import atexit
import gc
import os
import sys
from typing import NoReturn

import typer

from kb_pipeline.errors import KbError
from kb_pipeline.faces.commands import asking, building, curating, reading, remembering, serving

app = typer.Typer(
    name="kb",
    help="Compile scattered sources into a knowledge base of proven items, and search it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for group in (building, asking, remembering, serving, curating, reading):
    app.add_typer(group.app)
_DEBUG = "KB_DEBUG"
_INTERRUPTED = 130  # what typer exits with after Ctrl-C
# Modules and records hardly ever form cycles. Looking for them as often as Python does is half of what imports take;
# looking once more at the end took over a second after a build of 44,000 items, and the system takes all back anyway.
_COLLECTIONS = 100_000, 20, 20


def main() -> NoReturn:
    """Run the command line: exit 0 done, 1 failed, 2 wrong usage."""
    gc.set_threshold(*_COLLECTIONS)
    atexit.register(gc.freeze)
    try:
        app()
    except KbError as error:
        typer.echo(f"kb: {error}", err=True)
        sys.exit(2 if error.code == "usage" else 1)
    except SystemExit as end:
        if end.code == _INTERRUPTED:
            typer.echo("kb: stopped; what was finished is kept.", err=True)
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        typer.echo(f"kb: {where}{error.strerror or error}. Check the path, its permissions and free space.", err=True)
        sys.exit(1)
    except Exception as error:  # nobody who types a command should meet a traceback
        if os.environ.get(_DEBUG):
            raise
        kind = type(error).__name__
        typer.echo(f"kb: unexpected {kind}: {error}. This is a fault of kb; {_DEBUG}=1 shows where.", err=True)
        sys.exit(1)
    sys.exit(0)
