"""Words: phrases that are no plain technical English stay out of pages, docstrings and help."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support import REPOSITORY

_PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**/*.md")
_SOURCES = (
    "golden_model", "rtl", "generators", "sim", "tb", "fpga", "evaluation", "racetrap", "docs",
)  # fmt: skip


class _Phrase(NamedTuple):
    """An expression, whose spaces may be ends of lines, and what to say instead."""

    expression: str
    instead: str


#: In pages and sources alike.
_EVERYWHERE = (
    _Phrase("by the clock on the wall", "wall-clock time"),
    _Phrase("wall time", "wall-clock time"),
    _Phrase("seconds of the processor|processor time", "CPU time"),
    _Phrase("in the place of", "instead of"),
    _Phrase("for want of", "without, or for lack of"),
    _Phrase("(?:comes?|came) round to", "wraps"),
    _Phrase("by decree", "imposed by the method"),
    _Phrase("(?:is|are) not its task", "is out of scope"),
    _Phrase("what comes of", "consequences"),
    _Phrase("takes? amiss", "misread, or crash"),
    _Phrase("is the hardware's to (?:choose|say)", "is unspecified, or follows the hardware"),
    _Phrase("by the letter|to the letter of", "literally, or the form of the paper"),
    _Phrase("starts? anew|begins? anew", "restarts"),
    _Phrase("what it promises", "guarantees"),
    _Phrase("whose turn it is", "the schedule, or which thread runs next"),
    _Phrase("in earnest", "really"),
    _Phrase("happened-before", "happens-before"),
    _Phrase("of no meaning", "have no meaning"),
    _Phrase("is what is wanted", "must be"),
    _Phrase("in its every", "in each of its"),
    _Phrase("clock of the wall", "wall-clock time"),
    _Phrase("(?:is|are) told (?:apart|the|that|what|of|which|by|one)", "distinguished, or receives"),
    _Phrase("(?:help|page) tells", "lists, describes"),
    _Phrase("(?:is|are) going on", "in progress, or in flight"),
    _Phrase("(?:is|are) none of (?:ours|our own|the program)", "is not part of"),
)
#: In pages alone: sources still have them.
_IN_PAGES = (
    _Phrase("looked at|looks? at", "checked, examined, sampled"),
    _Phrase("told apart|told from", "distinguished"),
    _Phrase("on (?:its|their) way (?:from|to)", "in flight"),
    _Phrase("under way", "in flight, in progress"),
    _Phrase("junk", "random"),
    _Phrase("by chance", "accidentally, or happens to"),
    _Phrase("anew", "again"),
    _Phrase("(?:is|are) told", "receives, is given"),
    _Phrase("nobody", "no thread, no warp, nothing"),
    _Phrase("what (?:is|was) made of (?:it|them)", "the result"),
    _Phrase("makes of (?:it|them|each|that)", "how it treats"),
    _Phrase("in a place of", "in a"),
)


def _compiled(phrase: _Phrase) -> re.Pattern[str]:
    """Between two words may be the end of a line, with the mark of a comment or list behind it."""
    return re.compile(rf"\b(?:{phrase.expression})\b".replace(" ", r"\s+(?:(?:#:?|//|\*|>)\s*)?"), re.I)


def found(text: str, phrases: tuple[_Phrase, ...]) -> Iterator[str]:
    """Line, phrase and replacement of each phrase in a text."""
    for phrase in phrases:
        for match in _compiled(phrase).finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            yield f"{line}: {' '.join(match[0].split())!r}: say {phrase.instead}"


def _files(patterns: tuple[str, ...]) -> list[Path]:
    return sorted(path for pattern in patterns for path in REPOSITORY.glob(pattern))


@pytest.mark.parametrize(
    ("patterns", "phrases"),
    [
        (_PAGES, _EVERYWHERE + _IN_PAGES),
        (tuple(f"{folder}/**/*.py" for folder in _SOURCES), _EVERYWHERE),
    ],
    ids=["pages", "sources"],
)
def test_words(patterns, phrases):
    files = _files(patterns)
    assert len(files) > 50
    wrong = [
        f"{path.relative_to(REPOSITORY)}:{line}"
        for path in files
        for line in found(path.read_text(encoding="utf-8"), phrases)
    ]
    assert not wrong, "\n".join(wrong)
