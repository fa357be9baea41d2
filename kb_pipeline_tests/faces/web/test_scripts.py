"""Pages in other scripts, and titles that differ by a word: each a page of its own, linked, and read the right way."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from playwright.sync_api import Browser, Page

from kb_pipeline_tests.driving import Cli, new_root
from kb_pipeline_tests.faces.web.browser import CHROMIUM, chromium, looking
from kb_pipeline_tests.two_projects import serving

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed here")

SENTENCES = {
    "Redis": "Redis of shard {n} keeps {n}0 sessions in memory and loses none of them.",
    "Redis Cluster Failover": "A replica of group {n} takes over after {n}0 seconds without a heartbeat.",
    "缓存部署": "缓存节点 {n} 保留 {n}0 页的数据，并且在重启之后重新加载它们。",
    "캐시 정책": "캐시 노드 {n}은 데이터 {n}0페이지를 보관하고 다시 시작한 뒤에 불러온다.",
    "ذاكرة التخزين": "تحتفظ الذاكرة رقم {n} بعدد {n}0 صفحة من البيانات في كل مرة.",
}
RIGHT_TO_LEFT = "ذاكرة التخزين"
DIRECTIONS = "[...document.querySelectorAll('main h1, main :not(aside) > p')].map(e => getComputedStyle(e).direction)"
LINKS = "[...document.querySelectorAll('main a[href]:not([href^=\"#\"])')].map(a => a.href)"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A knowledge base of a document a title, built and exported by the command line."""
    documents = {
        f"notes/{number}.md": f"# {title}\n\n" + "".join(f"- {sentence.format(n=n)}\n" for n in range(2, 9))
        for number, (title, sentence) in enumerate(SENTENCES.items())
    }
    cli = Cli(new_root(tmp_path_factory.mktemp("scripts") / "base", documents))
    cli.build()
    cli.run("export", "--html", str(cli.root / "site"))
    return cli.root


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def paths(root: Path) -> dict[str, str]:
    """The path of each page by its title."""
    return {page["title"]: page["path"] for page in Cli(root).json("pages")}


def check_page(page: Page, title: str, *, site: bool) -> None:
    """A page has its own title and statements alone, runs in its script's direction, and its links lead somewhere."""
    assert page.inner_text("main h1 >> nth=0") == title
    text = page.inner_text("main")
    assert [other for other, sentence in SENTENCES.items() if sentence.format(n=3) in text] == [title]
    assert set(page.evaluate(DIRECTIONS)) == {"rtl" if title == RIGHT_TO_LEFT else "ltr"}
    for href in set(page.evaluate(LINKS)):
        assert Path(unquote(href.removeprefix("file://"))).is_file() if site else page.request.get(href).ok, href


def test_served_pages(root: Path, window: Browser) -> None:
    """On the server each title has its page, under the letters of its own script."""
    with serving(root) as url, looking(window, url) as seen:
        for title, path in paths(root).items():
            seen.page.goto(f"{url}/wiki/{quote(path.removesuffix('.md'))}")
            check_page(seen.page, title, site=False)
        assert (seen.foreign, seen.faults, set(paths(root))) == ([], [], set(SENTENCES))


def test_exported_pages(root: Path, window: Browser) -> None:
    """So it is in the files of a site."""
    with looking(window, f"file://{root}/site/index.html") as seen:
        for title, path in paths(root).items():
            seen.page.goto(f"file://{root}/site/{quote(path.removesuffix('.md'))}.html")
            check_page(seen.page, title, site=True)
        assert seen.faults == []
