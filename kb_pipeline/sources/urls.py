"""URLs as names: one spelling a page, and a path that no other page has. Pure."""

import mimetypes
import re
from urllib.parse import SplitResult, quote, unquote, urlsplit, urlunsplit

from kb_pipeline.rules.ids import digest

_PORTS = {"http": 80, "https": 443}
_EXTENSIONS = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/pdf": "pdf",
    "application/json": "json",
    "application/xml": "xml",
    "text/xml": "xml",
    "text/markdown": "md",
    "text/csv": "csv",
    "text/plain": "txt",
}
_VAGUE = frozenset(("text/plain", "application/octet-stream", "binary/octet-stream", ""))
_PAGE_ENDINGS = tuple(f".{end}" for end in (*dict.fromkeys(_EXTENSIONS.values()), "htm", "txt", "bin"))
_UNSAFE = re.compile(r"[^\w.~-]+")
_HASHED = re.compile(r"-[0-9a-f]{8}\Z")
_MAX_PART, _MAX_PATH = 100, 400


def normal(url: str) -> str:
    """One spelling for one page: scheme and host in lower case, no default port, no fragment, no empty path.

    Raises ``ValueError`` with the reason for what is no ``http`` or ``https`` URL, or carries credentials.
    """
    parts = urlsplit(url.strip())
    scheme, host = parts.scheme.lower(), parts.hostname
    if scheme not in _PORTS:
        raise ValueError("does not begin with http:// or https://")
    if not host:
        raise ValueError("names no host")
    if parts.username is not None or parts.password is not None:
        raise ValueError("carries a name or password, which would end up in citations")
    place = _ascii_host(host)
    if parts.port not in (None, _PORTS[scheme]):
        place += f":{parts.port}"
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    return urlunsplit(SplitResult(scheme, place, path, quote(parts.query, safe="/%:@!$&'()*+,;=~-._?"), ""))


def shown(url: str) -> str:
    """``url`` as messages may show it: without the name and password that it may carry."""
    return re.sub(r"//[^/?#]*@", "//…@", url)


def _ascii_host(host: str) -> str:
    if ":" in host:
        return f"[{host}]"
    try:
        return host.encode("ascii" if host.isascii() else "idna").decode().lower().rstrip(".")
    except UnicodeError:
        raise ValueError("names a host that cannot be") from None


def path_of(url: str, media_type: str) -> str:
    """The name of the page at ``url`` (as ``normal`` gives it): host and path with the type's extension.

    ``https://h/a/b.html`` → ``h/a/b.html``, ``https://h/a/`` → ``h/a/index.html``. Where that says less than the URL
    (query, port, ``http``, upper case, length, characters, an extension that had to be added), 8 digits of the URL's
    hash are added, so that no two URLs share a path.
    """
    parts = urlsplit(url)
    extension = _extension(parts.path, media_type.partition(";")[0].strip().lower())
    names = [_part(unquote(name)) for name in f"{parts.hostname}{parts.path}".split("/")]
    names = [name.replace(".", "-") if name.endswith(_PAGE_ENDINGS) else name for name in names[:-1]] + names[-1:]
    *folders, last = names if len(names) > 1 else [*names, ""]
    stem = "index" if not last else last.removesuffix(f".{extension}")
    plain = "/".join([*folders, f"{stem}.{extension}"])
    if all(folders) and _says_all(url, plain, stem, last):
        return plain
    folders = [name or "-" for name in folders]
    return "/".join([*_short(folders), f"{stem}-{digest(url)[:8]}.{extension}"])


def _says_all(url: str, plain: str, stem: str, last: str) -> bool:
    if len(plain) > _MAX_PATH or _HASHED.search(stem) or (last and stem == "index"):
        return False
    return url == f"https://{plain if last else plain.rpartition('/')[0] + '/'}"


def _part(name: str) -> str:
    return _UNSAFE.sub("-", name.lower())[:_MAX_PART].lstrip(".").rstrip(".")


def _short(folders: list[str]) -> list[str]:
    while len("/".join(folders)) > _MAX_PATH:
        folders = folders[:-1]
    return folders


def _extension(path: str, media_type: str) -> str:
    own = re.search(r"\.([a-z0-9]{1,8})\Z", path.lower())
    if media_type in _VAGUE and own:
        return own[1]
    guessed = _EXTENSIONS.get(media_type) or (mimetypes.guess_extension(media_type) or ".bin").lstrip(".")
    return "htm" if guessed == "html" and own and own[1] == "htm" else guessed
