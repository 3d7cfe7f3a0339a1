"""The documentation as a site: no dead link, nothing fetched, no wider than the window."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.support import REPOSITORY
from tests.support.pages.browser import NEEDS_BROWSER, browse

#: What the script of a test says of a page: how far it is wider than the window.
_OVERFLOW = """<script>addEventListener("load", () => {
  const page = document.documentElement;
  document.title = "overflow " + (page.scrollWidth - page.clientWidth);
});</script></head>"""


def build(target, source=REPOSITORY / "docs"):
    """Make the site; what Sphinx has to say."""
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "-c",
         str(REPOSITORY / "docs"), str(source), str(target)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    assert build(folder) == (0, "")
    return folder


def test_every_page_is_there_and_on_a_shelf(site):
    pages = {path.relative_to(REPOSITORY / "docs") for path in (REPOSITORY / "docs").rglob("*.md")}
    contents = (site / "index.html").read_text(encoding="utf-8")
    for page in pages:
        assert (site / page).with_suffix(".html").is_file()
        assert f'href="{page.with_suffix(".html")}"' in contents or page.name == "index.md"


def test_nothing_is_fetched(site):
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="(?:https?:)?//[^"]*"', text)


@pytest.mark.parametrize(
    ("page", "warning"),
    [
        ("# A\n\n[b](c.md)\n", "xref_missing"),
        ("# A\n\n[b](#c)\n", "xref_missing"),
        ("# A\n\n### B\n", "header"),
    ],
)
def test_a_dead_link_is_seen(tmp_path, page, warning):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(page)
    status, text = build(tmp_path / "site", tmp_path / "docs")
    assert status == 1
    assert warning in text


@NEEDS_BROWSER
@pytest.mark.parametrize("width", [500, 1400])
@pytest.mark.parametrize("page", ["index", "tutorials/racy-kernel", "presets", "glossary"])
def test_a_page_is_not_wider_than_its_window(site, page, width):
    path = site / f"{page}.html"
    copy = path.with_name(f"{path.stem}-{width}.html")
    copy.write_text(path.read_text(encoding="utf-8").replace("</head>", _OVERFLOW))
    assert "<title>overflow 0</title>" in browse(copy, width=width)


@NEEDS_BROWSER
def test_search_works_without_a_network(site):
    """The search page of a folder that has no server."""
    path = site / "search.html"
    copy = path.with_name("search-fence.html")
    query = '<script>history.replaceState(null, "", "?q=fence");</script></head>'
    copy.write_text(path.read_text(encoding="utf-8").replace("</head>", query, 1))
    assert "Search finished" in browse(copy)
