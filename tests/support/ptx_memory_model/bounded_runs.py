"""All runs with few deviations, those among them that go like others."""

from __future__ import annotations

from collections.abc import Iterator

from racetrap.golden_model.ptx_memory_model.operational import (
    Deviation,
    ReplayedChoices,
)
from racetrap.sim.gpu.stress.subject import Changes, Run, Subject
from racetrap.sim.gpu.stress.systematic import _further

_Deviations = tuple[Deviation, ...]


def all_bounded_runs(
    subject: Subject, memory: str, most: int, changes: Changes | None = None
) -> Iterator[Run]:
    """Every run with at most so many deviations, those with fewest first."""
    level: list[_Deviations] = [()]
    for size in range(most + 1):
        following: list[_Deviations] = []
        for deviations in level:
            choices = ReplayedChoices(deviations)
            yield subject.run(memory, choices, changes)
            if size < most:
                following += ((*deviations, one) for one, _ in _further(deviations, choices))
        level = following
