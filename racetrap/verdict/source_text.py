"""Lines of source files at places such as ``file.cu:12``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeVar

from racetrap.golden_model.call_stacks import Frame
from racetrap.golden_model.events import TraceHeader
from racetrap.golden_model.trace.threads.events import ThreadTraceHeader

_Header = TypeVar("_Header", TraceHeader, ThreadTraceHeader)
#: Larger files are no sources, nor are other than regular files.
_MOST_BYTES = 1 << 24


def relative_place(place: str) -> str:
    """A place with its path relative to the current folder, if inside it."""
    path, colon, line = place.rpartition(":")
    folder = os.getcwd() + os.sep
    return f"{os.path.normpath(path).removeprefix(folder)}{colon}{line}" if colon else place


_PLACE = re.compile(r"(?P<place>[^\n]+?:\d+): (?P<rest>.*)", re.DOTALL)


def split_place(sentence: str) -> tuple[str, str]:
    """The place at the beginning of a sentence, possibly empty, and the rest."""
    found = _PLACE.fullmatch(sentence)
    return (found["place"], found["rest"]) if found else ("", sentence)


def with_relative_places(text: str) -> str:
    """A text with paths relative to the current folder, for files inside it."""
    return text.replace(os.getcwd() + os.sep, "")


def beside(locations: Mapping[int, str], folder: Path) -> dict[int, str]:
    """Places by program counter, with their path for files found in a folder.

    Kernels are compiled without their folder's name, and recordings may be moved.
    """
    paths: dict[str, str] = {}
    for place in locations.values():
        name = place.rpartition(":")[0]
        if name not in paths:
            path = folder / name
            paths[name] = str(path) if name and not os.path.isabs(name) and path.is_file() else name
    found = {}
    for pc, place in locations.items():
        name, colon, line = place.rpartition(":")
        found[pc] = f"{paths[name]}{colon}{line}"
    return found


def frames_beside(frames: Mapping[int, Frame], folder: Path) -> dict[int, Frame]:
    """Frames with such places."""
    calls = beside({number: frame.place for number, frame in frames.items()}, folder)
    return {number: frame._replace(place=calls[number]) for number, frame in frames.items()}


def header_beside(header: _Header, folder: Path) -> _Header:
    """Header of a trace with such places."""
    frames = frames_beside(header.frames, folder)
    return replace(header, locations=beside(header.locations, folder), frames=frames)


@cache
def _lines(path: str) -> list[str]:
    try:
        # Places come from traces, which are untrusted.
        file = Path(path)
        if not file.is_file() or file.stat().st_size > _MOST_BYTES:
            return []
        return file.read_text(encoding="utf-8-sig", errors="replace").split("\n")
    except (OSError, ValueError):
        return []


@cache
def source_text(path: str) -> str:
    """Text of a file; empty if not readable."""
    return "\n".join(_lines(path))


_INCLUDED = re.compile(r'^\s*#\s*include\s*"([^"\n]+)"', re.MULTILINE)


def with_included(path: str) -> list[str]:
    """A file and those of the same folder, or below it, that it includes."""
    paths = [path]
    for each in paths:
        folder = os.path.dirname(each)
        found = (os.path.join(folder, name) for name in _INCLUDED.findall(source_text(each)))
        paths += [file for file in dict.fromkeys(found) if file not in paths and _lines(file)]
    return paths


def source_line(place: str) -> str:
    """Text of a place; empty if not readable."""
    path, _, line = place.rpartition(":")
    lines = _lines(path) if line.isdecimal() else []
    return lines[int(line) - 1].expandtabs() if lines and 0 < int(line) <= len(lines) else ""


def marked_line(place: str, column: int = 0, width: int = 1) -> list[str]:
    """Text of a place, and below it a caret under a column, from 1, or where that is not known
    under its first character, and tildes under further columns; nothing if there is no text."""
    path, _, line = place.rpartition(":")
    if not source_line(place).strip():
        return []
    text = _lines(path)[int(line) - 1].rstrip()
    offset = column - 1 if 0 < column <= len(text) else len(text) - len(text.lstrip())
    begin, end = (len(text[:each].expandtabs()) for each in (offset, offset + max(width, 1)))
    return [text.expandtabs(), " " * begin + "^" + "~" * (end - begin - 1)]


class SourceLine(NamedTuple):
    """A line of a source.

    Parameters
    ----------
    number : int
        Its number, from 1.
    text : str
        Its text.
    is_marked : bool
        Whether it is the requested one.
    """

    number: int
    text: str
    is_marked: bool


def excerpt(place: str, context: int) -> list[SourceLine]:
    """The line of a place, with up to ``context`` lines before and after it."""
    if not source_line(place):
        return []
    path, _, line = place.rpartition(":")
    own = int(line)
    first = max(own - context, 1)
    texts = _lines(path)[first - 1 : own + context]
    return [
        SourceLine(number, text.expandtabs().rstrip(), number == own)
        for number, text in enumerate(texts, start=first)
    ]
