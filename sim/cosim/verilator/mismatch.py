"""The one error of every comparison of hardware with a golden model."""

from __future__ import annotations

__all__ = ["Mismatch"]


class Mismatch(AssertionError):
    """The hardware did something that the golden model does not."""
