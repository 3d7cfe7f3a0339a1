"""Kernels of the suites, logged: by a GPU or by the executor in its place, and judged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from racetrap.golden_model.events import Geometry
from racetrap.sim.gpu.executor.device import Device, Machine
from racetrap.sim.gpu.executor.machine.errors import ExecutionError
from racetrap.sim.gpu.executor.machine.launch import Launch, LaunchStats
from racetrap.sim.gpu.executor.machine.program import KernelProgram
from racetrap.sim.gpu.executor.machine.warp_schedulers import WARP_SCHEDULERS
from racetrap.sim.gpu.instrumented.gpu import Gpu, InstrumentedLaunches, KernelCall
from racetrap.sim.gpu.ptx.errors import PtxError
from racetrap.sim.gpu.ptx.module import Module
from racetrap.sim.gpu.ptx.parser import parse_ptx
from racetrap.verdict.gpu.trace_check import TraceCheck
from tests.support.gpu.comparison.jobs import Job, run_job
from tests.support.gpu.comparison.ours import lines_of
from tests.support.gpu.executor_gpu import ExecutorGpu

#: Runs of each kernel on a GPU: logged, and as it is.
RUNS, PLAIN_RUNS = 5, 5
#: Room for all blocks of a kernel at once, on several SMs.
GEOMETRY = Geometry(sm_count=4, blocks_per_sm=8, warps_per_sm=64)
#: Units of the log of one of these kernels: 128 MiB.
UNITS = 1 << 22
_LIMIT = 3_000_000

#: Two lines and the memory.
Lines = list[list[str]]


class Judged(NamedTuple):
    """Judgement on a run.

    Parameters
    ----------
    lines : set of (str, str, str)
        Pairs of lines that race, with their memory.
    memory : str
        Contents of all buffers afterwards.
    events : int
        Events of the trace.
    """

    lines: set[tuple[str, ...]]
    memory: str
    events: int


def judged(job: Job, module: Module, machine: Machine | None, **settings: Any) -> Judged:
    """Run a kernel of the suites with independent lanes, and judge its trace.

    Raises
    ------
    ExecutionError, PtxError
        If it cannot be run.
    """
    geometry = machine.geometry if isinstance(machine, InstrumentedLaunches) else GEOMETRY
    device = Device(
        geometry, independent_threads=True, write=lambda text: None, machine=machine,
        instruction_limit=_LIMIT, **settings,
    )  # fmt: skip
    memory = run_job(job, module, device)
    trace, check = device.trace(job.name), TraceCheck()
    check.add(trace)
    return Judged(set(map(tuple, lines_of(check.pairs))), memory, len(trace))


def on_executor(job: Job, module: Module, is_logged: bool) -> Lines | str:
    """Pairs of lines that race in runs on the executor, over its schedulers: in its own traces, or
    in what the instrumented kernel logs; or why it cannot be run."""
    found = set[tuple[str, ...]]()
    for scheduler in WARP_SCHEDULERS:
        machine = None
        if is_logged:
            gpu = ExecutorGpu(
                GEOMETRY, scheduler=scheduler, instruction_limit=_LIMIT, write=lambda text: None
            )
            machine = InstrumentedLaunches(gpu, UNITS)
        try:
            found |= judged(job, module, machine, scheduler=scheduler).lines
        except (PtxError, ExecutionError) as error:
            return str(error).partition("\n")[0]
    return _listed(found)


def _listed(lines: Iterable[tuple[str, ...]]) -> Lines:
    return [list(each) for each in sorted(lines)]


class PlainLaunches:
    """Runs kernels on a GPU as they are, for their time."""

    def __init__(self, gpu: Gpu):
        self._gpu, self.geometry = gpu, gpu.geometry
        self._images: dict[Module, Any] = {}
        self.microseconds = 0.0

    def check(self, program: KernelProgram, places: Any, clustered: bool) -> None:
        """Anything can be run."""

    def run(self, launch: Launch, stream: int, call: int) -> LaunchStats:
        """Run a launch; nothing is logged."""
        module, gpu, heap = launch.program.module, self._gpu, launch.heap
        try:
            if module not in self._images:
                parts = [each.text for each in module.parts or (module,)]
                self._images[module] = gpu.load(parts, 1024)
            for buffer in heap.buffers:
                gpu.write(buffer.address, heap.bytes_at(buffer.address, buffer.size))
            gpu.launch(self._images[module], KernelCall.of(launch))
        except ExecutionError:  # after which the process may have no images
            self._images = {}
            raise
        self.microseconds += gpu.microseconds
        return LaunchStats(0, 0, 0, 0)


class Subject(NamedTuple):
    """A GPU, or what stands in for it.

    Parameters
    ----------
    logged : InstrumentedLaunches
        Runs kernels that log.
    plain : PlainLaunches
        Runs them as they are.
    """

    logged: InstrumentedLaunches
    plain: PlainLaunches

    @classmethod
    def of(cls, gpu: Gpu, other: Gpu) -> Subject:
        """That of a GPU in two processes, since a fault in one takes all images from it."""
        return cls(InstrumentedLaunches(gpu, UNITS), PlainLaunches(other))


def measured(job: Job, module: Module, subject: Subject) -> dict[str, Any]:
    """What a GPU makes of a kernel.

    Returns
    -------
    dict of str to object
        ``lines`` over all runs, the number of different ``memories``, ``events`` and ``bytes`` of a
        run's log, and least microseconds of all launches, ``plain`` and ``logged``; or why it was
        ``refused``.
    """
    lines, memories = set[tuple[str, ...]](), set[str]()
    times, events, launches = list[float](), 0, subject.logged
    before = launches.logged
    try:
        for _ in range(RUNS):
            launches.microseconds = 0.0
            judgement = judged(job, module, launches)
            lines |= judgement.lines
            memories.add(judgement.memory)
            events = judgement.events
            times.append(launches.microseconds)
    except (PtxError, ExecutionError) as error:
        return {"refused": str(error)}
    found: dict[str, Any] = {
        "lines": _listed(lines), "memories": len(memories), "events": events,
        "bytes": (launches.logged - before) // RUNS, "logged": round(min(times), 1),
    }  # fmt: skip
    if any(each.space == "global" for each in module.variables.values()):
        return found
    plain, sums = subject.plain, []
    try:
        for _ in range(PLAIN_RUNS):
            plain.microseconds = 0.0
            run_job(job, module, Device(plain.geometry, machine=plain, independent_threads=True))
            sums.append(plain.microseconds)
    except ExecutionError:  # it is logged, at least
        return found
    return found | {"plain": round(min(sums), 1)}


# Files for a machine with a GPU, where no kernel can be compiled


def packed(jobs: Iterable[Job], texts: dict[str, str]) -> str:
    """Kernels and their PTX as text."""
    rows = [
        each._asdict() | {"buffers": [contents.hex() for contents in each.buffers]} for each in jobs
    ]
    return json.dumps({"jobs": rows, "texts": texts})


def unpacked(text: str) -> tuple[list[Job], dict[str, str]]:
    """The opposite."""
    data = json.loads(text)
    jobs = [
        Job(**row | {
            "buffers": tuple(map(bytes.fromhex, row["buffers"])), "launches": tuple(row["launches"])
        })
        for row in data["jobs"]
    ]  # fmt: skip
    return jobs, data["texts"]


def rows(
    jobs: Iterable[Job], texts: dict[str, str], subject: Subject | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is found in each kernel, by its name: in the executor's own traces, in the log of the
    executor in a GPU's place, and in that of a GPU, if there is one."""
    modules: dict[str, Module] = {}
    for job in jobs:
        if job.source not in modules:
            modules[job.source] = parse_ptx(texts[job.source], job.source)
        module = modules[job.source]
        row: dict[str, Any] = {"racy": job.is_racy}
        if subject:
            row["gpu"] = measured(job, module, subject)
        row["ours"] = on_executor(job, module, False)
        row["executor"] = on_executor(job, module, True)
        yield job.name, row
