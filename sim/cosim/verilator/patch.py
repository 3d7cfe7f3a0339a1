"""Changes of source texts that plant bugs, independent of line breaks."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from textwrap import dedent

_WORD = re.compile(
    r"""'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|\w+|<<=|>>=|\*\*|//|->"""
    r"""|[<>=!+\-*/&|^%:]=|<<|>>|&&|\|\||\S"""
)


@dataclass(frozen=True)
class Patch:
    """A change of one source text, to plant a bug: ``before`` must occur exactly once.

    Words are compared, not characters, and Python sources without comments and redundant
    parentheses, so that reformatting keeps the bug.

    Parameters
    ----------
    file : str
        Source file, relative to the folder of the RTL.
    before, after : str
        Text replaced and its replacement.
    """

    file: str
    before: str
    after: str

    def changed(self, source: str) -> str:
        """The source with the change; ``ValueError`` unless the text to change occurs once."""
        is_python = self.file.endswith(".py")
        source, words = _words(source, is_python)
        texts = [word for word, *_ in words]
        # A part of a display or expression may parse as a whole one, with parentheses.
        for as_python in (is_python, False):
            wanted = [word for word, *_ in _words(self.before, as_python)[1]]
            starts = [at for at, word in enumerate(texts) if word == wanted[0]]
            places = [at for at in starts if texts[at : at + len(wanted)] == wanted]
            if len(places) == 1:
                start, stop = words[places[0]][1], words[places[0] + len(wanted) - 1][2]
                return source[:start] + self.after.strip() + source[stop:]
        raise ValueError(f"Text to patch in {self.file} must occur once, not {len(places)} times")

    def apply(self, folder: Path) -> None:
        """Change the copy of the sources in ``folder``; errors as of ``changed``."""
        path = folder / self.file
        path.write_text(self.changed(path.read_text(encoding="utf-8")), encoding="utf-8")


@lru_cache(maxsize=8)
def _words(text: str, is_python: bool) -> tuple[str, list[tuple[str, int, int]]]:
    """A text, in Python as ``ast`` writes it, and its words, each with where it starts and stops;
    a comma before a closing bracket is dropped, and quotes and bases of numbers are unified.
    """
    if is_python:
        with suppress(SyntaxError):  # part of a statement stays as it is
            text = ast.unparse(ast.parse(dedent(text)))
    words: list[tuple[str, int, int]] = []
    for match in _WORD.finditer(text):
        word = match.group()
        if word[0] == '"' and "'" not in word:
            word = f"'{word[1:-1]}'"
        elif re.fullmatch(r"0[xb][0-9a-fA-F]+", word):
            word = str(int(word, 0))
        elif word in ")]}" and words and words[-1][0] == ",":
            words.pop()
        words.append((word, *match.span()))
    return text, words
