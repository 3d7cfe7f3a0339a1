"""Error of a run on the executor."""

from __future__ import annotations

__all__ = ["ExecutionError"]


class ExecutionError(RuntimeError):
    """A launch that cannot be run, or that does what no kernel may."""
