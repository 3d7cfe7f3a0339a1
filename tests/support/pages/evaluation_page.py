"""Contents of an evaluation's page, and its display in a browser."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

from tests.support.pages.devtools import Browser


class Inventory(HTMLParser):
    """Elements by id with their tags, rows of each table, and everything that would be fetched."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.ids: dict[str, str] = {}
        self.fetched: list[str] = []
        self.rows: Counter[str] = Counter()
        self._table = ""
        self.feed(page)
        if "@import" in page:
            self.fetched.append("@import")
        # Whatever stands in brackets of url() must be a part of the page itself.
        targets = re.findall(r"url\((.*?)\)", page)
        self.fetched += [target for target in targets if not target.startswith("#")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if identity := values.get("id"):
            self.ids[identity] = tag
            if tag == "table":
                self._table = identity
        if tag == "tr":
            self.rows[self._table] += 1
        for name in ("src", "href", "xlink:href"):
            target = values.get(name)
            if target and not target.startswith("#"):
                self.fetched.append(target)


#: Boxes of plots and tables, and the size of the text.
_SEEN = """({
  boxes: [...document.querySelectorAll("figure svg, table")]
    .map(element => element.getBoundingClientRect()).map(box => [box.width, box.height]),
  font: parseFloat(getComputedStyle(document.body).fontSize),
})"""


def assert_shown_whole(
    shown: Browser, page: str, folder: Path, width: int, elements: int, *, is_dark: bool = False
) -> None:
    """Let a browser show the page in a window of some width, with a picture of it beside it; it has
    so many plots and tables."""
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    shown.show(file, width, is_dark=is_dark)
    shown.picture(folder / "page.png")
    assert shown.cut() == []
    seen = shown.evaluate(_SEEN)
    assert seen["font"] >= 14
    assert len(seen["boxes"]) == elements
    for wide, high in seen["boxes"]:
        assert wide > 100
        assert high > 50
