"""Random tests of hardware and golden model, in cases that can be rerun alone.

A case is one simulation after reset.  Everything about it follows from preset, seed and the
case's number.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count
from random import Random
from typing import Any

from racetrap.generators.presets import find_preset
from racetrap.generators.system import Params, Preset, System
from racetrap.generators.systems import system_of
from racetrap.sim.cosim.comparison.coverage import BinCounts
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.build import FastModel, build_fast
from racetrap.sim.cosim.fast.simulation import SimulationError
from racetrap.sim.cosim.gpu.tiles import build_tiles

#: Behind a preset's name: a few of its tiles, joined by a network with random delays.
TILES = "-tiles"


@dataclass(frozen=True)
class RandomVolume:
    """How a detector is run.

    Parameters
    ----------
    play : callable
        Given model, number of the case, source of randomness and observer or None, plays the
        runs of a case and gives what each compared: ``figures``, ``cycles`` and ``digest`` as
        attributes.
    figures : tuple of str
        What a run counts besides cycles, the volume first.
    """

    play: Callable[[FastModel[Any], int, Random, Any], Iterator[Any]]
    figures: tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """Name of a case.

    Parameters
    ----------
    model : FastModel
        System, built once for all cases.
    seed, number : int
        Seed of the campaign and number of the case in it.
    has_coverage : bool
        Whether functional coverage is collected.
    """

    model: FastModel[Any]
    seed: int
    number: int
    has_coverage: bool = True

    @property
    def system(self) -> System[Any]:
        """The detector that it runs."""
        return system_of(self.model.params)

    @property
    def kind(self) -> RandomVolume:
        """How that is run."""
        kind: RandomVolume = self.system.own("evaluation", "campaign").RANDOM_VOLUME
        return kind


@dataclass(frozen=True)
class CaseResult:
    """Result of a case.

    Parameters
    ----------
    case : Case
        The case.
    counts : mapping of str to int
        The detector's figures, and ``cycles``.
    seconds : float
        Time for all of it, making the stimulus included.
    difference : str
        First difference in one sentence; empty if there is none.
    coverage : mapping of str to int
        Hits of functional coverage by bin.
    digest : int
        Sum of its runs' digests: equal if all transfers are, in cycle and content.
    """

    case: Case
    counts: Mapping[str, int]
    seconds: float = 0.0
    difference: str = ""
    coverage: Mapping[str, int] = field(default_factory=dict)
    digest: int = 0

    @property
    def volume(self) -> int:
        """Accesses or events compared."""
        return self.counts[self.case.kind.figures[0]]


def run_case(case: Case) -> CaseResult:
    """Run one case; a difference is a result, not an exception."""
    kind, model = case.kind, case.model
    coverage_of = case.system.own("sim.cosim", "coverage").Coverage
    observer: BinCounts | None = coverage_of(model.params) if case.has_coverage else None
    random = Random(f"{model.preset} {case.seed} {case.number}")
    started = time.perf_counter()
    counts = Counter(dict.fromkeys([*kind.figures, "cycles"], 0))
    difference, digest = "", 0
    try:
        for compared in kind.play(model, case.number, random, observer):
            counts.update({name: getattr(compared, name) for name in counts})
            digest += compared.digest
    except (Mismatch, SimulationError) as error:
        difference = str(error)
    coverage = observer.to_json() if observer is not None else {}
    seconds = time.perf_counter() - started
    return CaseResult(case, dict(counts), seconds, difference, coverage, digest)


@dataclass(frozen=True)
class NumberedCases:
    """Cases 0, 1, ... of a preset, without end; each is plain data, for a worker process.

    Parameters
    ----------
    preset : str
        Name of the preset.
    seed : int
        Seed of the campaign.
    """

    preset: str
    seed: int

    def __iter__(self) -> Iterator[tuple[str, int, int]]:
        return ((self.preset, self.seed, number) for number in count())


def run_numbered(case: tuple[str, int, int]) -> CaseResult:
    """Build the preset of a case, unless that was done, and run the case."""
    preset, seed, number = case
    return run_case(Case(_model(preset), seed, number))


# Cases of one preset follow each other.
@lru_cache(1)
def _model(name: str) -> FastModel[Any]:
    preset = find_compared(name)
    if not name.endswith(TILES):
        return build_fast(name, preset.params)
    params: Any = preset.params
    return replace(build_tiles(name.removesuffix(TILES), params), preset=name)


def find_compared(name: str) -> Preset[Params]:
    """The preset called ``name``; with ``-tiles`` behind it a few tiles of that preset.

    Raises
    ------
    ValueError
        If there is no such preset, it is too large, or its detector has no tiles.
    """
    if not name.endswith(TILES):
        preset = find_preset(name)
        if not preset.params.trace_port:
            raise ValueError(
                f"Preset {name} is too large for one simulator: name its tiles, {name}{TILES}"
            )
        return preset
    whole = find_preset(name.removesuffix(TILES))
    system = system_of(whole.params)
    if not system.has("sim.cosim", "few_tiles"):
        raise ValueError(
            f"Preset {whole.name} must be of a detector with tiles, not of {system.name}"
        )
    params = replace(whole.params, trace_port=True)
    return Preset(name, f"A few tiles of {whole.name}", params)


def is_enough(volume: int, results: Sequence[CaseResult]) -> bool:
    """Whether cases have compared enough accesses or events together, or one differs."""
    return sum(result.volume for result in results) >= volume or any(
        result.difference for result in results
    )
