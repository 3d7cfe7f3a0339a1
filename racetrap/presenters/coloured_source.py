"""Source text in colours: words of its language, by their kind."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_for_filename
from pygments.token import Comment, Keyword, Number, String, _TokenType
from pygments.util import ClassNotFound

from racetrap.verdict.source_text import SourceLine, excerpt

#: Classes of a page's style, by kinds of words; the first that fits counts.
_CLASSES = {
    Comment.Preproc: "directive", Comment: "comment", Keyword: "keyword", String: "string",
    Number: "number",
}  # fmt: skip
#: Lines ahead of those shown that are read for what begins there, such as a comment.
_AHEAD = 100


class Word(NamedTuple):
    """A part of a line.

    Parameters
    ----------
    text : str
        Its text.
    style : str
        Its class; empty for plain text.
    """

    text: str
    style: str


@cache
def coloured_excerpt(place: str, context: int) -> list[tuple[SourceLine, list[Word]]]:
    """The line of a place, with up to ``context`` lines before and after it, in words."""
    if not (lines := excerpt(place, max(context, _AHEAD))):
        return []
    words = _coloured(place.rpartition(":")[0], [line.text for line in lines])
    marked = next(number for number, line in enumerate(lines) if line.is_marked)
    shown = slice(max(marked - context, 0), marked + context + 1)
    return list(zip(lines[shown], words[shown], strict=True))


def _coloured(file: str, lines: Sequence[str]) -> list[list[Word]]:
    """Lines of a file in words; plain if its language is unknown."""
    if (lexer := _lexer(file.rpartition("/")[2])) is None:
        return [[Word(line, "")] for line in lines]
    coloured: list[list[Word]] = [[]]
    # Unlike the lexer's other functions, this one leaves the ends of lines alone.
    for _, kind, text in lexer.get_tokens_unprocessed("\n".join(lines)):
        first, *others = text.split("\n")
        coloured[-1].append(Word(first, _class_of(kind)))
        coloured += [[Word(other, _class_of(kind))] for other in others]
    return coloured


@cache
def _lexer(name: str) -> Lexer | None:
    try:
        return get_lexer_for_filename(name)
    except ClassNotFound:
        return None


def _class_of(kind: _TokenType) -> str:
    return next((name for each, name in _CLASSES.items() if kind in each), "")
