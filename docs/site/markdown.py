"""Markdown of the pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def plain(text: str) -> str:
    """Text in which no character is markup."""
    return re.sub(r"([\\`*_{}\[\]<>#|$])", r"\\\1", text)


def _cell(value: object) -> str:
    return re.sub(r"(?<!\\)[|]", r"\\|", str(value))


def table(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """A table, one line a row; a vertical bar of a cell does not end it."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)
