"""Capture of kernels: a launch file and a kernel file to a trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.executor.device import Device, LaunchStats
from racetrap.sim.gpu.executor.machine.errors import Fault, KernelFault
from racetrap.sim.gpu.executor.machine.launch import Watch, unwatched
from racetrap.sim.gpu.executor.machine.warp_schedulers import unwrapped
from racetrap.sim.gpu.executor.machine.weak_memory import WeakMemorySettings
from racetrap.sim.gpu.launch.launch_arguments import (
    ELEMENT_TYPES,
    Argument,
    BufferArgument,
    PointerArgument,
    StructArgument,
)
from racetrap.sim.gpu.launch.launch_file import LaunchSpec, fitting_kernel
from racetrap.sim.gpu.ptx.module import Module
from racetrap.sim.gpu.timing.instruction_counts import InstructionCounts


@dataclass(frozen=True)
class Capture:
    """Results of the launches of a file.

    Parameters
    ----------
    make_trace : callable
        Makes the trace; that takes a third of the time of a short run.
    stats : LaunchStats
        Instructions and blocks, of all launches.
    buffers : dict of int or str to ndarray
        Contents of each buffer after the run: by its name, or by the number of the argument;
        arguments of further launches count on.
    differences : list of str
        Buffers that do not hold the expected values, each in a sentence.
    fault : KernelFault, optional
        The fault that ended a kernel early, and with it the run.
    """

    make_trace: Callable[[], Trace]
    stats: LaunchStats
    buffers: dict[int | str, np.ndarray]
    differences: list[str]
    fault: KernelFault | None

    @property
    def hangs(self) -> bool:
        """Whether a kernel would not end."""
        return self.fault is not None and self.fault.fault is Fault.NO_END

    @cached_property
    def trace(self) -> Trace:
        """All events of the run."""
        return self.make_trace()


def capture(
    module: Module, launch: LaunchSpec, schedule: int = 0,
    memory: WeakMemorySettings | None = None, instruction_limit: int | None = None,
    watch: Watch = unwatched, keeps_going: bool = False,
) -> Capture:  # fmt: skip
    """Run the launches of a file on a new device and keep their trace.

    Parameters
    ----------
    module : Module
        Module of the kernels.
    launch : LaunchSpec
        What to launch, and how.
    schedule : int
        Number of the run: the first has the file's schedule, in others the warps' order is random.
    memory : WeakMemorySettings, optional
        Memory model, whose choices also order the warps.
    instruction_limit : int, optional
        Limit that replaces the file's.
    watch : Watch
        Observer of the running launches; none by default.
    keeps_going : bool
        Whether loads from outside all buffers return 0 and do not end a kernel.

    Raises
    ------
    TomlError
        If a launch does not fit its kernel.
    PtxError
        If a kernel has an instruction that is not known.
    ExecutionError
        If a launch cannot be made, such as that of a block that does not fit.
    """
    independent = launch.independent_threads
    tables = [table for _, table in launch.launches]
    kernels = [fitting_kernel(launch, module, number) for number in range(len(tables))]
    instructions = InstructionCounts()
    device = Device(
        launch.geometry,
        scheduler="random" if schedule else launch.scheduler,
        seed=launch.seed + schedule,
        independent_threads=memory is None if independent is None else independent,
        stall_limit=launch.stall_limit,
        instruction_limit=instruction_limit or launch.instruction_limit,
        event_limit=launch.event_limit,
        memory=memory,
        watch=watch,
        keeps_going=keeps_going,
        wrap=instructions.watch if launch.count_instructions else unwrapped,
    )
    device.load(module)
    buffers = _buffers(launch)
    addresses = _allocate(device, launch, buffers)
    values = _values(launch, addresses)
    fault = None
    try:
        for kernel, table in zip(kernels, tables, strict=True):
            own, values = values[: len(table.arguments)], values[len(table.arguments) :]
            device.launch(
                module, kernel.name, table.grid, table.block, own, table.dynamic_shared,
                table.cooperative, table.cluster,
            )  # fmt: skip
    except KernelFault as error:
        fault = error
    contents = {
        name: device.read(addresses[name], ELEMENT_TYPES[buffer.type], buffer.count)
        for name, buffer in buffers.items()
    }
    differences = [
        f"Buffer {name} must have {difference}"
        for name, buffer in buffers.items()
        if fault is None and (difference := buffer.difference(contents[name]))
    ]
    source = f"{module.name} {', '.join(kernel.name for kernel in kernels)}"

    def make_trace() -> Trace:
        return instructions.trace(device.trace(source, results=differences))

    return Capture(
        make_trace,
        device.stats,
        contents,
        differences,
        fault,
    )


def _arguments(launch: LaunchSpec) -> list[Argument]:
    return [argument for _, table in launch.launches for argument in table.arguments]


def _buffers(launch: LaunchSpec) -> dict[int | str, BufferArgument]:
    """Buffers by the number of their argument, or by name."""
    buffers: dict[int | str, BufferArgument] = {
        number: argument
        for number, argument in enumerate(_arguments(launch))
        if isinstance(argument, BufferArgument)
    }
    return buffers | {named.name: named for named in launch.buffers}


def _allocate(
    device: Device, launch: LaunchSpec, buffers: Mapping[int | str, BufferArgument]
) -> dict[int | str, int]:
    """Addresses of the buffers, filled and between their guard zones."""
    names = [named.name for named in launch.buffers]
    addresses: dict[int | str, int] = {}
    guards: list[int] = []
    for name, buffer in buffers.items():
        # No two buffers are alike.
        seed = (launch.seed, name) if isinstance(name, int) else (launch.seed, names.index(name), 1)
        guards += [device.allocate(buffer.guard)] if buffer.guard else []
        addresses[name] = device.allocate(
            buffer.make(np.random.default_rng(seed)),
            name=name if isinstance(name, str) else "",
            origin="a buffer of the launch file",
        )
        guards += [device.allocate(buffer.guard)] if buffer.guard else []
    for guard in guards:
        device.free(guard)  # nothing is allocated after it
    return addresses


def _values(launch: LaunchSpec, addresses: Mapping[int | str, int]) -> list[int | float | bytes]:
    """Arguments of all launches, one after the other."""

    def address_of(pointer: PointerArgument) -> int:
        return addresses[pointer.pointer] + pointer.offset

    values: list[int | float | bytes] = []
    for number, argument in enumerate(_arguments(launch)):
        if isinstance(argument, BufferArgument):
            values.append(addresses[number])
        elif isinstance(argument, PointerArgument):
            values.append(address_of(argument))
        elif isinstance(argument, StructArgument):
            values.append(argument.pack(address_of))
        else:
            values.append(argument.bits())
    return values
