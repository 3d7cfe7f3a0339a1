"""Races of a kernel that weak memory exposes, separated from those that it does not.

Ref: Bugaroo Section III-D.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from racetrap.golden_model.call_stacks import Chain, chain_of
from racetrap.sim.gpu.executor.call_paths import CallPaths
from racetrap.sim.gpu.executor.machine.program_counters import event_pc
from racetrap.sim.gpu.ptx.module import Function, Module
from racetrap.sim.gpu.stress.exposure import Exposure, expose, witnessed
from racetrap.sim.gpu.stress.subject import Subject
from racetrap.verdict.line_pairs import LinePair
from racetrap.verdict.source_text import beside, frames_beside


@dataclass(frozen=True)
class ExposureSearch:
    """Parameters of the search for failing runs.

    Parameters
    ----------
    memory : str
        The memory model.
    runs, seed : int
        Maximum runs for each race, and the seed of the first.
    """

    memory: str
    runs: int
    seed: int


def expose_races(
    pairs: Sequence[LinePair], subject: Subject, search: ExposureSearch, folder: Path,
    shown: Callable[[Sequence[LinePair]], Iterable[LinePair]] = iter,
) -> dict[frozenset[Chain], dict[str, Any]]:  # fmt: skip
    """Record for each race whether a run under weak memory fails because of it.

    Parameters
    ----------
    pairs : sequence of LinePair
        The races.
    subject : Subject
        What runs.
    search : ExposureSearch
        Parameters of the search.
    folder : Path
        Where the races' sources were looked for.
    shown : callable
        Shows the progress.

    Returns
    -------
    dict of frozenset of Chain to dict
        Exposures of pairs of lines that are not among the races: only executions that are not
        sequentially consistent reach them.
    """
    locations = _chains(tuple(subject.functions), folder)
    memory, runs, seed = search.memory, search.runs, search.seed
    for pair in shown(pairs):
        found = expose(subject, memory, pair.first.chains, locations, runs, seed)
        pair.exposure = _plain(memory, found)
    others: dict[frozenset[Chain], dict[str, Any]] = {}
    for lines, found in witnessed(subject, memory, locations, runs, seed):
        known = [pair for pair in pairs if lines <= pair.first.chains]
        for pair in known:
            if pair.exposure["failure"] is None:
                pair.exposure = _plain(memory, found)
        if not known and ("",) not in lines:
            others.setdefault(lines, _plain(memory, found))
    return others


def _chains(functions: Sequence[Function], folder: Path) -> dict[int, Chain]:
    """Place of each instruction that has one, with the calls that lead there."""
    module = Module("", "", "", {}, {function.name: function for function in functions})
    paths = CallPaths([module])
    found: dict[int, tuple[str, int]] = {}
    for function in functions:
        for instruction in function.instructions:
            if (place := instruction.location) is not None:
                frame = paths.frame(module, function, instruction)
                found[event_pc(instruction.index)] = str(place), frame
    frames = frames_beside(paths.frames, folder)
    places = beside({pc: place for pc, (place, _) in found.items()}, folder)
    return {pc: chain_of(places[pc], frames, frame) for pc, (_, frame) in found.items()}


def _plain(memory: str, found: Exposure) -> dict[str, Any]:
    """An exposure as plain data."""
    return {
        "memory": memory,
        "runs": found.runs,
        "seed": found.seed,
        "failure": found.run and found.run.failure and found.run.failure.value,
        "sentence": found.run.sentence if found.run else "",
        "alone": found.alone,
    }
