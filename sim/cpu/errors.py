"""Error of recording a program."""

from __future__ import annotations

__all__ = ["RecordError"]


class RecordError(RuntimeError):
    """A program cannot be recorded; the text is one sentence, then the output of a tool."""
