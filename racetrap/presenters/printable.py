"""Text from files and command lines, without what a terminal or browser would obey."""

from __future__ import annotations

_LAYOUT = "\n\t"


def printable(text: str) -> str:
    """The text with control, formatting and unassigned characters as backslash escapes."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() or each in _LAYOUT else ascii(each)[1:-1] for each in text
    )
