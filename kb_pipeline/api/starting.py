"""An empty knowledge base in a new folder, from the files in ``template/``. Overwrites nothing."""

from pathlib import Path

from kb_pipeline.errors import KbError

_TEMPLATE = Path(__file__).parent / "template"
_NAMES = {"gitignore": ".gitignore"}
_FOLDERS = ("kb/plugins", "notes")


def init(folder: Path) -> list[str]:
    """Start an empty knowledge base in ``folder``; the files made. Raises ``KbError`` where one stands already."""
    if (folder / "sources.yaml").exists():
        cure = "Choose another folder, or edit what is there."
        raise KbError("already holds a knowledge base.", where=str(folder), cure=cure, code="usage")
    try:
        return _make(folder)
    except OSError as error:
        where, cure = str(error.filename or folder), "Choose another folder, or check its permissions and free space."
        raise KbError(f"cannot be made: {error.strerror}.", where=where, cure=cure) from error


def _make(folder: Path) -> list[str]:
    for name in _FOLDERS:
        (folder / name).mkdir(parents=True, exist_ok=True)
    made = []
    for template in sorted(_TEMPLATE.iterdir()):
        target = folder / _NAMES.get(template.name, template.name)
        if not target.exists():
            target.write_bytes(template.read_bytes())
            made.append(target.name)
    return made
