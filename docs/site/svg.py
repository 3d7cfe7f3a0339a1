"""SVG that takes the colours of the page that it stands in, light or dark."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

_STYLE = (
    "text{font:13px sans-serif;fill:currentColor;stroke:none}"
    ".note{font-size:11px;opacity:.75}"
    "rect{fill:var(--color-background-primary,white);stroke:currentColor;rx:5}"
    "path{fill:none;stroke:currentColor;opacity:.45}"
    "path.strong{stroke-width:2.2;opacity:1}"
    ".tip{fill:currentColor;stroke:none}"
)

#: Wider figures shrink to this, but no further.
_LEAST_WIDTH = 680


def text(x: float, y: float, words: str, *, anchor: str = "middle", note: bool = False) -> str:
    """Words at a place."""
    kind = ' class="note"' if note else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{kind}>{escape(words)}</text>'


def figure(title: str, width: float, height: float, parts: Iterable[str]) -> str:
    """A figure as a block of HTML in Markdown, with its title below."""
    name = "".join(letter for letter in title.lower() if letter.isalnum())
    tip = (
        f'<defs><marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" markerUnits="userSpaceOnUse" orient="auto">'
        '<path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>'
    )
    body = "\n".join(parts).replace("TIP", f"url(#{name})")
    # It fits a page on a desk; on a phone, where text would be too small, it scrolls.
    style = f"max-width:100%;height:auto;min-width:{min(width, _LEAST_WIDTH):g}px"
    return (
        '<figure style="overflow-x:auto">\n<svg xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" width="{width:g}" style="{style}">\n'
        f"<title>{escape(title)}</title>\n"
        f"<style>{_STYLE}</style>\n{tip}\n{body}\n</svg>\n"
        f"<figcaption>{escape(title)}</figcaption>\n</figure>\n"
    )
