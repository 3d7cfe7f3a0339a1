"""The error of everything that takes part in recording."""

from __future__ import annotations

__all__ = ["RecordError"]


class RecordError(RuntimeError):
    """A program cannot be recorded; the text is one sentence, then what a tool said."""
