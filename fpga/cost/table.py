"""A table of hardware cost: one preset, a row a block, figures by family.

Everything in it is plain data, so that workers can send it and JSON can hold it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median

from racetrap.fpga.cost.explain import Comparison
from racetrap.fpga.flow.place_and_route import PlacedBlock
from racetrap.fpga.flow.synthesis import Synthesis
from racetrap.generators.state import StatePart
from racetrap.generators.structure import StateBits


@dataclass(frozen=True)
class Fmax:
    """Clock frequencies over seeds, in MHz.

    Parameters
    ----------
    median, low, high : float
        Of all seeds, MHz.
    """

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Cost:
    """A block on one family.

    Parameters
    ----------
    device : str
        Target device, as quoted beside a figure.
    versions : mapping of str to str
        Versions of the packages that made it; empty if one is missing.
    synthesis : Synthesis or None
        None if it failed.
    placements : tuple of PlacedBlock
        One a seed; none if the block was only synthesised.
    problem : str
        Reason why something is missing, in a sentence; else empty.
    """

    device: str
    versions: Mapping[str, str] = field(default_factory=dict)
    synthesis: Synthesis | None = None
    placements: tuple[PlacedBlock, ...] = ()
    problem: str = ""

    @property
    def fmax(self) -> Fmax | None:
        """Median and spread over the seeds; None without placements."""
        clocks = [placement.fmax_mhz for placement in self.placements]
        return Fmax(median(clocks), min(clocks), max(clocks)) if clocks else None

    @property
    def critical_path(self) -> list[str]:
        """Critical path of the seed whose clock is nearest to the median."""
        fmax = self.fmax
        if fmax is None:
            return []
        typical = min(self.placements, key=lambda each: abs(each.fmax_mhz - fmax.median))
        return typical.critical_path


@dataclass(frozen=True)
class BlockRow:
    """A block.

    Parameters
    ----------
    block : str
        Its name.
    count : int
        Instances in the system; all figures are for one of them.
    state : StateBits
        State of the elaborated block.
    costs : mapping of str to Cost
        By family.
    """

    block: str
    count: int
    state: StateBits
    costs: Mapping[str, Cost] = field(default_factory=dict)


@dataclass(frozen=True)
class CostTable:
    """Cost of one preset.

    Parameters
    ----------
    preset : str
        Its name.
    settings : tuple of str
        Changes of it, as ``name=value``.
    state : tuple of StatePart
        State of the whole system by kind, from parameters and from the elaborated design.
    comparisons : tuple of Comparison
        The paper's figures, compared with the counted ones.
    explanation : tuple of str
        Sentences on state beyond the method's.
    rows : tuple of BlockRow
        Blocks.
    """

    preset: str
    settings: tuple[str, ...]
    state: tuple[StatePart, ...]
    comparisons: tuple[Comparison, ...]
    explanation: tuple[str, ...]
    rows: tuple[BlockRow, ...]

    @property
    def families(self) -> list[str]:
        """Families with figures, in the order requested."""
        return list(dict.fromkeys(family for row in self.rows for family in row.costs))

    @property
    def paths(self) -> dict[str, list[str]]:
        """Critical paths, by block and family."""
        return {
            f"{row.block}, {family}": cost.critical_path
            for row in self.rows
            for family, cost in row.costs.items()
            if cost.critical_path
        }

    @property
    def problems(self) -> list[str]:
        """What could not be measured, each reason once."""
        places: dict[str, list[str]] = {}
        for row in self.rows:
            for family, cost in row.costs.items():
                if cost.problem:
                    places.setdefault(cost.problem, []).append(f"{row.block}, {family}")
        return [
            f"{self.preset}, {first}{f' and {len(others)} more' if others else ''}: {problem}"
            for problem, (first, *others) in places.items()
        ]
