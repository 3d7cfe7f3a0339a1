"""Words: phrases that are not plain technical English stay out of pages and docstrings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.support import REPOSITORY


class _Phrase(NamedTuple):
    """An expression, and what to say instead."""

    expression: str
    instead: str


#: In pages and sources, help texts and docstrings among them.
_EVERYWHERE = (
    _Phrase("(?:by the clock )?on the wall|wall time", "wall-clock time"),
    _Phrase("seconds of the processor|processor time", "CPU time"),
    _Phrase("in the place of", "instead of"),
    _Phrase("for want of", "without, lacking"),
    _Phrase("(?:comes?|came) round to", "wraps to"),
    _Phrase("by decree", "imposed by the method"),
    _Phrase("not its task", "out of scope"),
    _Phrase("what comes of", "consequences of"),
    _Phrase("takes? amiss", "misreads, crashes on"),
    _Phrase("the hardware's to (?:choose|say)", "unspecified, as in the hardware"),
    _Phrase("(?:by|to) the letter", "literally, as in the paper"),
    _Phrase("anew", "again, restarts"),
    _Phrase("what it promises", "guarantees"),
    _Phrase("whose turn it is", "which thread runs next, the schedule"),
    _Phrase("in earnest", "really"),
    _Phrase("happened-before", "happens-before"),
    _Phrase("of no meaning", "without meaning"),
    _Phrase("what is wanted", "required"),
    _Phrase("told (?:apart|from)", "distinguished"),
    _Phrase("(?:is|are) told", "receives, is given"),
    _Phrase("(?:help|page|table|register|command) tells", "lists, describes, holds"),
    _Phrase("none of the program(?:'s)?", "not the program's"),
    _Phrase("under way", "in flight, in progress"),
    _Phrase("by chance", "accidentally, happens to"),
    _Phrase("the house|a room|rooms", "structure, a folder, folders"),
    _Phrase("all the same", "still, nevertheless"),
)
#: In pages.
_IN_PAGES = (
    _Phrase("knows?", "supports, has, takes into account"),
    _Phrase("asks? (?:for|that|of|whether)|asked of", "requires, calls, uses"),
    _Phrase("tells (?:the|that|which|what|how|of|us|it)", "shows, prints, means"),
    _Phrase("comes? from (?:us|ours)|of ours", "of the project"),
    _Phrase("look(?:s|ed)? at", "checks, examines, samples"),
    _Phrase("junk", "random content"),
    _Phrase("nobody|anyone|no one", "no thread, no warp, nothing"),
    _Phrase("(?:makes?|made|became) of (?:it|them|each|that|this)", "does with, reports for"),
    _Phrase("go(?:es)? on to|goes on|go on from", "continues"),
)
_PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**/*.md")
_FOLDERS = (
    "golden_model",
    "rtl",
    "generators",
    "sim",
    "tb",
    "fpga",
    "evaluation",
    "racetrap",
    "docs",
)
_SOURCES = ("py", "c", "cpp", "h", "cu", "cuh", "v", "lark", "html", "js")
#: Between two words: an end of a line with the mark of a comment, too.
_GAP = r"\s+(?:(?:#:?|//|\*)\s+)?"


def found(text: str, phrases: tuple[_Phrase, ...]) -> Iterator[str]:
    """Line, phrase and replacement of each phrase in a text."""
    for expression, instead in phrases:
        pattern = rf"(?<![\w`])(?:{expression.replace(' ', _GAP)})(?![\w`])"
        for match in re.finditer(pattern, text, re.IGNORECASE):
            line = text.count("\n", 0, match.start()) + 1
            yield f"{line}: '{' '.join(match[0].split())}': say {instead}"


def _found_in(patterns: tuple[str, ...], phrases: tuple[_Phrase, ...]) -> list[str]:
    files = sorted(path for pattern in patterns for path in REPOSITORY.glob(pattern))
    assert len(files) > 50
    return [
        f"{path.relative_to(REPOSITORY)}:{line}"
        for path in files
        for line in found(path.read_text(encoding="utf-8"), phrases)
    ]


def test_words_of_pages():
    wrong = _found_in(_PAGES, _EVERYWHERE + _IN_PAGES)
    assert not wrong, "\n".join(wrong)


def test_words_of_sources():
    patterns = [f"{folder}/**/*.{kind}" for folder in _FOLDERS for kind in _SOURCES]
    wrong = _found_in(tuple(patterns), _EVERYWHERE)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("One\ntwo in the\nplace of three", "2: 'in the place of': say instead of"),
        ("#: A list, for want\n#: of room", "1: 'for want #: of': say without, lacking"),
        ("The page tells the options.", "1: 'page tells': say lists, describes, holds"),
        ("Seconds of the processor", "1: 'Seconds of the processor': say CPU time"),
    ],
)
def test_a_phrase_is_found(text, line):
    assert list(found(text, _EVERYWHERE)) == [line]


def test_a_name_is_no_phrase():
    assert not list(found("`begin_anew`, is_told, `junk`", _EVERYWHERE + _IN_PAGES))
