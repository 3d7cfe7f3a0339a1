"""Behaviour of a simulated memory, and its record of a read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MemoryKnobs:
    """Behaviour of a memory.

    Parameters
    ----------
    latency, jitter : int
        Cycles from an address to its answer: ``latency`` plus 0 to ``jitter``.
    ready : float
        Probability that a ready signal is high in a cycle.
    read_errors, write_errors : float
        Fraction of error responses; a write with an error still takes effect, which is allowed.
    """

    latency: int = 1
    jitter: int = 0
    ready: float = 1.0
    read_errors: float = 0.0
    write_errors: float = 0.0


@dataclass
class ReadRecord:
    """A read by the device, from which the scoreboard finds the source of an entry.

    ``error`` is whether the answer is an error, ``done_cycle`` when it was taken, if it was.
    """

    id: int
    address: int
    due: int
    error: bool
    early_data: int | None
    done_cycle: int | None = None
