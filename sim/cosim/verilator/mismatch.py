"""The one error of every comparison of hardware with a golden model."""

from __future__ import annotations

from racetrap.sim.failure import Failure

__all__ = ["Mismatch"]


class Mismatch(Failure, AssertionError):
    """The hardware did something that the golden model does not."""
