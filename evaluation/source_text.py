"""Lines of source files behind places such as ``file.cu:12``."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

__all__ = ["marked_line", "relative_place", "source_line"]


def relative_place(place: str) -> str:
    """A place with its path from the current folder, if it lies in that."""
    path, colon, line = place.rpartition(":")
    folder = os.getcwd() + os.sep
    return f"{os.path.normpath(path).removeprefix(folder)}{colon}{line}" if colon else place


@cache
def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def source_line(place: str) -> str:
    """Text of a place; empty if there is none to be read."""
    path, _, line = place.rpartition(":")
    lines = _lines(path) if line.isdecimal() else []
    return lines[int(line) - 1].expandtabs() if lines and 0 < int(line) <= len(lines) else ""


def marked_line(place: str) -> list[str]:
    """Text of a place, and below it a caret under its first character; nothing if there is none."""
    text = source_line(place)
    code = text.lstrip()
    return [text.rstrip(), " " * (len(text) - len(code)) + "^"] if code else []
