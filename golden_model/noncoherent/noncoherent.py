"""Detector of races between a CPU with a cache and accelerators that bypass it.

Ref: Young, "Dynamic Race Detection for Non-Coherent Accelerators" (UBC 2020).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from racetrap.golden_model.noncoherent.detector import Detector, Finding
from racetrap.golden_model.noncoherent.interval_set import Origin
from racetrap.golden_model.noncoherent.races import Race, RaceTable
from racetrap.golden_model.noncoherent.strict import Strict
from racetrap.golden_model.noncoherent.thesis import Thesis
from racetrap.golden_model.trace.noncoherent.operations import MemorySystem, Operation

#: Detectors by the name of their mode.
MODES: dict[str, type[Detector]] = {"strict": Strict, "thesis": Thesis}


def has_races(races: Iterable[Race]) -> bool:
    """Whether one of the races counts: lost data that nobody reads does not."""
    return any(not race.is_overwritten for race in races)


@dataclass(frozen=True)
class Noncoherent:
    """The detector, in plain Python.

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
            raise ValueError(f"Mode must be one of {', '.join(MODES)}, not {self.mode!r}")

    def run(self, operations: Iterable[Operation]) -> list[Race]:
        """Races of a run, in the order of their first instances."""
        detector, races = MODES[self.mode](self.memory), RaceTable()
        for number, operation in enumerate(operations):
            findings = detector.step(number, operation)
            if findings:
                races.add(Origin(number, operation.kind, operation.engine, operation.pc), findings)
        return races.close(detector.missed_places())

    def first(self, operations: Iterable[Operation]) -> tuple[int | None, list[Finding]]:
        """Number of the first operation that breaks a rule, or None, and what it breaks."""
        detector = MODES[self.mode](self.memory)
        for number, operation in enumerate(operations):
            findings = detector.step(number, operation)
            if findings:
                return number, findings
        return None, []
