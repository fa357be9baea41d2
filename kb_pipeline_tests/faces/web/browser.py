"""A real browser, where one is installed: headless Chromium, which notes what pages do that they should not."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
_QUIET += ["--disable-sync", "--no-first-run", "--disable-quic"]


@dataclass
class Seen:
    """A page, the addresses that it asked outside of its server, and what ran or broke in it."""

    page: Page
    foreign: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser, with nothing of its own running in the background."""
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=_QUIET)
        yield found
        found.close()


@contextmanager
def looking(
    browser: Browser, url: str, *, scripts: bool = True, width: int = 1280, dark: bool = False
) -> Iterator[Seen]:
    """A page of ``url``, in a window of its own."""
    scheme: Literal["dark", "light"] = "dark" if dark else "light"
    window = {"width": width, "height": 800}
    context = browser.new_context(viewport=window, color_scheme=scheme, java_script_enabled=scripts)  # type: ignore[arg-type]
    seen = Seen(context.new_page())
    seen.page.on("request", lambda r: None if r.url.startswith(url) else seen.foreign.append(r.url))
    seen.page.on("dialog", lambda d: seen.faults.append(f"dialog: {d.message}"))
    seen.page.on("pageerror", lambda error: seen.faults.append(str(error)))
    seen.page.on("console", lambda m: seen.faults.append(m.text) if m.type == "error" else None)
    seen.page.goto(url)
    yield seen
    context.close()
