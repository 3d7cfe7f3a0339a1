"""Edits of source texts: replacements by byte, what they do to lines, and a diff of them."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple


@dataclass(frozen=True, order=True, slots=True)
class Edit:
    """A replacement in a source.

    Parameters
    ----------
    file : str
        Its name, as places in a trace have it.
    start, end : int
        Bytes that are replaced; none if both are the same.
    text : str
        What stands there afterwards.
    words : str
        What it does, as an instruction: ``insert `__syncthreads();` before scan.cu:12``; empty for
        one that only belongs to another, such as a brace.
    """

    file: str
    start: int
    end: int
    text: str
    words: str = ""

    def overlaps(self, other: Edit) -> bool:
        """Whether both replace one byte."""
        is_same = self.file == other.file
        return is_same and self.start < other.end and other.start < self.end


class Replacement(NamedTuple):
    """An edit by lines and columns, from 1, as editors count them.

    Parameters
    ----------
    file : str
        Path of the source.
    line, column, end_line, end_column : int
        What is replaced: its first character, and the one behind its last, both the same if none
        is.  Columns count units of UTF-16.
    text : str
        What stands there afterwards.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str


#: Edits that belong together.
Change = tuple[Edit, ...]


def edits_of(edits: Iterable[Edit], file: str) -> list[Edit]:
    """Edits of one file."""
    return [edit for edit in edits if edit.file == file]


def edited(source: bytes, edits: Iterable[Edit]) -> bytes:
    """A source with its edits, in their order where several are at one place."""
    parts, done = [], 0
    for edit in sorted(edits, key=lambda each: (each.start, each.end)):
        assert edit.start >= done, "Edits must not overlap"
        parts += [source[done : edit.start], edit.text.encode("utf-8", "surrogateescape")]
        done = edit.end
    return b"".join([*parts, source[done:]])


def replacements(
    sources: Mapping[str, bytes], edits: Iterable[Edit], folder: Path
) -> tuple[Replacement, ...]:  # fmt: skip
    """Edits by lines and columns, in the order of the texts.

    Parameters
    ----------
    sources : mapping of str to bytes
        Original sources by the names that edits have.
    edits : iterable of Edit
        Edits of them.
    folder : Path
        Where the sources are.
    """
    return tuple(
        Replacement(
            str(folder.resolve() / edit.file), *_position(sources[edit.file], edit.start),
            *_position(sources[edit.file], edit.end), edit.text,
        )
        for edit in sorted(edits, key=lambda each: (each.file, each.start, each.end))
    )  # fmt: skip


def _position(source: bytes, byte: int) -> tuple[int, int]:
    """Line and column of a byte."""
    before = text_of(source[source.rfind(b"\n", 0, byte) + 1 : byte])
    column = len(before.encode("utf-16-le", "surrogatepass")) // 2 + 1
    return source.count(b"\n", 0, byte) + 1, column


class LineMap:
    """Lines of an original source by those of the edited one.

    Parameters
    ----------
    source : bytes
        The original source.
    edits : iterable of Edit
        Its edits; lines that they insert count as the line behind them.
    """

    def __init__(self, source: bytes, edits: Iterable[Edit]) -> None:
        self._starts: list[int] = []
        self._shifts: list[int] = []
        shift = 0
        for edit in sorted(edits):
            if added := edit.text.count("\n") - source[edit.start : edit.end].count(b"\n"):
                line = source.count(b"\n", 0, edit.start) + 1
                self._starts.append(line + shift + max(added, 0))
                shift += added
                self._shifts.append(shift)

    def original(self, line: int) -> int:
        """Line of the original source, from 1, of one of the edited source."""
        number = bisect_right(self._starts, line)
        return line - (self._shifts[number - 1] if number else 0)


def inserted_lines(source: bytes, edits: Sequence[Edit], text: re.Pattern[str]) -> set[int]:
    """Lines of the edited source, from 1, in which text of an edit is of a form."""
    lines, done, line = set[int](), 0, 1
    for edit in sorted(edits):
        line += source.count(b"\n", done, edit.start)
        words = edit.text.split("\n")
        lines |= {line + number for number, part in enumerate(words) if text.search(part)}
        line += len(words) - 1
        done = edit.end
    return lines


def diff(sources: Mapping[str, bytes], edits: Sequence[Edit], names: Mapping[str, str]) -> str:
    """Unified diff that `git apply` and `patch -p1` take.

    Parameters
    ----------
    sources : mapping of str to bytes
        Original sources by the names that edits have.
    edits : sequence of Edit
        Edits of them.
    names : mapping of str to str
        Their names in the diff.
    """
    parts: list[str] = []
    for file in dict.fromkeys(edit.file for edit in edits):
        own = edits_of(edits, file)
        # A name with a space in it ends at a tab.
        name = names[file] + "\t" * (" " in names[file])
        before, after = _lines(sources[file]), _lines(edited(sources[file], own))
        parts += unified_diff(before, after, f"a/{name}", f"b/{name}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in parts
    )  # fmt: skip


def common_folder(files: Iterable[Path]) -> Path:
    """The innermost folder that holds all of some files."""
    return Path(os.path.commonpath([file.resolve().parent for file in files]))


def text_of(source: bytes) -> str:
    """Text of a source, whatever its encoding."""
    return source.decode("utf-8", "surrogateescape")


def _lines(source: bytes) -> list[str]:
    """Lines as the compiler counts them, with their ends."""
    return re.findall(r"[^\n]*\n|[^\n]+", text_of(source))
