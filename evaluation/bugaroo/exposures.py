"""Exposures: how often variants fail under weak memory, how soon, and with how small a witness.

Ref: Bugaroo Sections IV-C and IV-D.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from time import perf_counter

from racetrap.golden_model.ptx_memory_model.operational import (
    ByteMemory,
    Choices,
    Kind,
    Memory,
    RandomChoices,
    WriteBuffers,
)
from racetrap.golden_model.ptx_memory_model.scopes import Place
from racetrap.sim.gpu.executor.machine.weak_memory import WeakMemorySettings, is_shared
from racetrap.sim.gpu.launch.capture import capture
from racetrap.sim.gpu.stress.kernel_subject import KernelSubject
from racetrap.sim.gpu.stress.search import random_rates, random_runs, short_witness
from racetrap.sim.gpu.stress.subject import Run
from racetrap.sim.gpu.suites.weak_memory.launches import launch_of
from racetrap.sim.gpu.suites.weak_memory.programs import PROGRAMS, Program, Variant
from racetrap.sim.gpu.suites.weak_memory.runner import kernels_of

#: Probabilities p_w of Table IV.
HOLDS = (1.0, 0.75, 0.5, 0.25)
#: Flushed buffers by their length: of stores to global and to shared memory.
Flushes = tuple[Counter[int], Counter[int]]


@dataclass(frozen=True)
class ExposureRun:
    """Runs of a variant under weak memory; plain data, for a worker process.

    Parameters
    ----------
    program, variant : str
        What to run.
    runs : int
        Runs by each memory.
    seed : int
        Seed of the first.
    """

    program: str
    variant: str
    runs: int
    seed: int


@dataclass(frozen=True)
class Exposure:
    """What weak memory shows of a variant.

    Parameters
    ----------
    program, variant : Program, Variant
        What has run.
    runs : int
        Runs by each memory.
    held : tuple of int
        Runs that fail with write buffers, by each probability of ``HOLDS``.
    views : int
        Runs that fail by views.
    first : int, optional
        Number of the first of these, from 1.
    seconds : float, optional
        Until then.
    witness : tuple of int, optional
        Deviations of memory, and preemptions, of the first one, shrunk.
    times : tuple of float
        Mean seconds of a run: sequentially consistent, write buffers at probability 1, views.
    flushes : Flushes
        Buffers flushed, at probability 1.
    """

    program: Program
    variant: Variant
    runs: int
    held: tuple[int, ...]
    views: int
    first: int | None
    seconds: float | None
    witness: tuple[int, int] | None
    times: tuple[float, float, float]
    flushes: Flushes


def exposed_wrongly(exposures: Collection[Exposure]) -> list[str]:
    """What is not as the suite states it, in sentences: right variants that fail by views."""
    return [
        f"{each.program.kernel(each.variant)} must not fail by views, since nothing lacks, not in "
        f"{each.views} of {each.runs} runs"
        for each in exposures
        if each.views and not each.variant.lacks
    ]


def expose(run: ExposureRun) -> Exposure:
    """Run a variant by each memory."""
    program = PROGRAMS[run.program]
    variant = program.variant(run.variant)
    subject = KernelSubject(kernels_of(program), launch_of(program, variant))
    held, buffered = [], 0.0
    for hold in HOLDS:
        begin = perf_counter()
        runs = islice(random_runs(subject, "write-buffers", run.seed, hold), run.runs)
        held.append(sum(each.failure is not None for each in runs))
        buffered = buffered or perf_counter() - begin
    begin, first, seconds, found = perf_counter(), None, None, list[Run]()
    for number, each in enumerate(islice(random_runs(subject, "views", run.seed), run.runs), 1):
        if each.failure:
            found.append(each)
            if first is None:
                first, seconds = number, perf_counter() - begin
    viewed = perf_counter() - begin
    witness = None
    if found:
        kinds = [one.kind for one in short_witness(subject, "views", found).deviations]
        witness = len(kinds) - kinds.count(Kind.TURN), kinds.count(Kind.TURN)
    times = _sequential_seconds(subject), buffered / run.runs, viewed / run.runs
    flushes = _flushes(subject, run.seed)
    return Exposure(
        program, variant, run.runs, tuple(held), len(found), first, seconds, witness, times, flushes
    )


def _sequential_seconds(subject: KernelSubject) -> float:
    begin = perf_counter()
    for _ in range(3):
        capture(subject.module, subject.launch)
    return (perf_counter() - begin) / 3


def _flushes(subject: KernelSubject, seed: int) -> Flushes:
    """Lengths of flushed buffers of a run that holds all stores."""
    models: list[WriteBuffers] = []

    def make(
        memory: ByteMemory, places: Sequence[Place], choices: Choices, lockstep: bool
    ) -> Memory:
        models.append(WriteBuffers(memory, places, choices, is_shared))
        return models[-1]

    choices = RandomChoices(seed, random_rates(seed))
    capture(subject.module, subject.launch, memory=WeakMemorySettings(make, choices))
    lengths: Flushes = Counter(), Counter()
    for model in models:
        for counter, flushed in zip(lengths, model.flush_lengths, strict=True):
            counter.update(flushed)
    return lengths
