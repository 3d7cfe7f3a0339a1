"""Context of one program: all that its requests share."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from racetrap.golden_model.events import USUAL_GEOMETRY, Geometry
from racetrap.sim.gpu.cuda.errors import CudaError
from racetrap.sim.gpu.cuda.messages import AllocationKind
from racetrap.sim.gpu.cuda.modules import Modules
from racetrap.sim.gpu.cuda.nvcc_options import CAPABILITIES
from racetrap.sim.gpu.cuda.sites import Sites
from racetrap.sim.gpu.cuda.streams import Streams
from racetrap.sim.gpu.executor.device import Device, Machine, Operation
from racetrap.sim.gpu.executor.machine.event_log import Judge
from racetrap.sim.gpu.executor.machine.launch import Watch, unwatched
from racetrap.sim.gpu.executor.machine.limits import (
    DEFAULT_EVENT_LIMIT,
    DEFAULT_INSTRUCTION_LIMIT,
    DEFAULT_STALL_LIMIT,
)
from racetrap.sim.gpu.executor.machine.weak_memory import WeakMemorySettings

#: Numbers of a reply.
Numbers = Sequence[int]


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """How a program is run.

    Parameters
    ----------
    geometry : Geometry
        Size of the GPU.
    scheduler : str
        Name of the warp scheduler.
    seed : int
        Seed of the random scheduler.
    independent_threads : bool
        Whether lanes that diverge run independently of each other, and not in lockstep.
    stall_limit : int
        Warp instructions without progress after which a launch is aborted.
    capability : int
        Compute capability of the GPU, 10 * major + minor.
    kernel : str
        Kernel whose launches are traced; empty for all.
    launches : range, optional
        Numbers of the launches that are traced; by default all.
    output : int
        Descriptor for what the program prints, its kernels too.
    memory : WeakMemorySettings, optional
        Memory model, whose choices also order the warps; without it memory is sequentially
        consistent.
    instruction_limit : int
        Warp instructions after which a launch is aborted in any case.
    event_limit : int
        Events of all launches together after which a launch is aborted.
    watch : Watch
        Observer of running launches; none by default.
    keeps_going : bool
        Whether loads from outside all buffers return 0 and do not end a kernel.
    make_judge : callable, optional
        Makes the judge of a run that is too long to be kept; without it all is kept.
    logged : collection of int, optional
        Program counters of the weak accesses that are kept; by default all.
    share : float
        Share of the blocks whose weak accesses are kept.
    edited : tuple of str
        PTX to take instead of the program's with the same kernels.
    machine : Machine, optional
        What runs the kernels; by default the executor.
    """

    geometry: Geometry = USUAL_GEOMETRY
    scheduler: str = "round-robin"
    seed: int = 1
    independent_threads: bool = True
    stall_limit: int = DEFAULT_STALL_LIMIT
    capability: int = CAPABILITIES[0]
    kernel: str = ""
    launches: range | None = None
    output: int = 1
    memory: WeakMemorySettings | None = None
    instruction_limit: int = DEFAULT_INSTRUCTION_LIMIT
    event_limit: int = DEFAULT_EVENT_LIMIT
    watch: Watch = unwatched
    keeps_going: bool = False
    make_judge: Callable[[], Judge] | None = None
    logged: Collection[int] | None = None
    share: float = 1.0
    edited: tuple[str, ...] = ()
    machine: Machine | None = None


class Context:
    """Context of a program.

    Parameters
    ----------
    memory_file : int
        Descriptor of the file of ``HEAP_END`` bytes that holds device memory.
    settings : RunSettings
        How the program is run.

    Attributes
    ----------
    device : Device
        The GPU.
    buffers : dict of int to AllocationKind
        What the program has allocated, by address.
    problems : list of str
        Requests of the program that could not be served, a sentence each.
    fault : CudaError
        Error that every request has since a kernel has faulted.
    """

    def __init__(self, memory_file: int, settings: RunSettings):
        self.settings = settings
        self.device = Device(
            settings.geometry,
            scheduler=settings.scheduler,
            seed=settings.seed,
            independent_threads=settings.independent_threads,
            stall_limit=settings.stall_limit,
            instruction_limit=settings.instruction_limit,
            event_limit=settings.event_limit,
            watch=settings.watch,
            keeps_going=settings.keeps_going,
            memory=settings.memory,
            memory_file=memory_file,
            make_judge=settings.make_judge,
            logged=settings.logged,
            share=settings.share,
            machine=settings.machine,
            write=lambda text: os.write(settings.output, text.encode()),
        )
        self.modules = Modules(settings.capability, settings.edited)
        self.sites = Sites()
        self.streams = Streams()
        self.buffers: dict[int, AllocationKind] = {}
        self.problems: list[str] = []
        self.fault = CudaError.SUCCESS

    def operation(self, stream: int, site: int) -> Operation:
        """Place of the next operation, which a stream is given now."""
        return Operation(stream, self.streams.issue(stream), self.sites.pc(site))
