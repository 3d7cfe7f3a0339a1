"""Detectors of races between a CPU with a cache and accelerators that bypass it.

Ref: Young, "Dynamic Race Detection for Non-Coherent Accelerators" (UBC 2020).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from racetrap.golden_model.checks import unknown_name
from racetrap.golden_model.noncoherent.races import Race
from racetrap.golden_model.trace.noncoherent.operations import MemorySystem

MODES = ("strict", "thesis")


def has_races(races: Iterable[Race]) -> bool:
    """Whether one of the races counts: lost data that is never read does not."""
    return any(not race.is_overwritten for race in races)


@dataclass(frozen=True)
class Noncoherent:
    """A detector.

    Parameters
    ----------
    memory : MemorySystem
        The hardware.
    mode : str
        Name of the mode, one of ``MODES``.

    Raises
    ------
    ValueError
        If there is no such mode.
    """

    memory: MemorySystem
    mode: str = "strict"

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(unknown_name("mode", self.mode, MODES))
