"""Detection quality of a configuration: what the golden model misses and reports wrongly."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from racetrap.evaluation.sweep.spec import QualitySpec


@dataclass(frozen=True)
class Quality:
    """Counts over all runs of all workloads.

    Parameters
    ----------
    runs : int
        Runs.
    races : int
        Different races that are there, and that the detector looks for, summed over the runs.
    misses : int
        Those of them that it does not report.
    false_reports : int
        Reports, or analyses that were started, for which there is no race.
    """

    runs: int = 0
    races: int = 0
    misses: int = 0
    false_reports: int = 0

    def __add__(self, other: Quality) -> Quality:
        return Quality(
            self.runs + other.runs,
            self.races + other.races,
            self.misses + other.misses,
            self.false_reports + other.false_reports,
        )

    def figures(self) -> dict[str, Any]:
        """The counts by name."""
        return asdict(self)


_Figures = Callable[[Any, "QualitySpec", Mapping[str, str]], dict[str, Any]]


def counted(quality: Callable[[Any, QualitySpec], Quality]) -> _Figures:
    """The counts alone as figures, of workloads without recordings."""
    return lambda params, spec, recordings: quality(params, spec).figures()


@dataclass(frozen=True)
class Swept:
    """Interface between sweeps and a detector.

    Parameters
    ----------
    workloads : tuple of str
        Workloads by name.
    sizes : tuple of str
        Sizes of their runs.
    figures : callable
        Given parameters, specification and recordings, the figures of detection quality by name.
        Raises ``DoesNotFit`` if a workload does not fit the configuration.
    aliases : mapping of str to str
        Other words for parameters.
    absent : collection of str
        Keys of the specification that are not for this detector.
    recordings : callable
        Given parameters and specification, the hash of each workload's recording; it is made if
        there is none.
    """

    workloads: Sequence[str]
    sizes: Sequence[str]
    figures: _Figures
    aliases: Mapping[str, str] = field(default_factory=dict)
    absent: Collection[str] = ()
    recordings: Callable[[Any, QualitySpec], Mapping[str, str]] = lambda params, spec: {}
