"""Capture of a kernel: a launch file and a kernel file to a trace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.executor.device import Device, LaunchStats
from racetrap.sim.gpu.launch.launch_arguments import ELEMENT_TYPES, BufferArgument
from racetrap.sim.gpu.launch.launch_file import LaunchSpec, fitting_kernel
from racetrap.sim.gpu.ptx.module import Module

__all__ = ["Capture", "capture"]


@dataclass(frozen=True)
class Capture:
    """Results of a launch.

    Parameters
    ----------
    trace : Trace
        All events of the run.
    stats : LaunchStats
        Instructions and blocks.
    buffers : dict of int to ndarray
        Contents of each buffer argument after the run, by number of the argument.
    independent_threads : bool
        Whether the lanes of a warp were scheduled independently.
    """

    trace: Trace
    stats: LaunchStats
    buffers: dict[int, np.ndarray]
    independent_threads: bool


def capture(module: Module, launch: LaunchSpec) -> Capture:
    """Run a launch from a new device and keep what happened.

    Parameters
    ----------
    module : Module
        Module of the kernel.
    launch : LaunchSpec
        What to launch, and how.

    Raises
    ------
    TomlError
        If the launch does not fit the kernel.
    PtxError
        If the kernel has an instruction that is not known.
    ExecutionError
        If the run goes wrong: a bad access, or a launch that cannot end.
    """
    kernel = fitting_kernel(launch, module)
    device = Device(
        launch.geometry,
        scheduler=launch.scheduler,
        seed=launch.seed,
        independent_threads=launch.independent_threads,
        stall_limit=launch.stall_limit,
        instruction_limit=launch.instruction_limit,
    )
    device.load(module)
    values: list[int | float] = []
    addresses: dict[int, int] = {}
    for number, argument in enumerate(launch.arguments):
        if isinstance(argument, BufferArgument):
            rng = np.random.default_rng((launch.seed, number))  # no two buffers alike
            addresses[number] = device.allocate(argument.make(rng))
            values.append(addresses[number])
        else:
            values.append(argument.bits())
    stats = device.launch(
        module, kernel.name, launch.grid, launch.block, values, launch.dynamic_shared
    )
    buffers = {
        number: device.read(address, ELEMENT_TYPES[argument.type], argument.count)
        for number, address in addresses.items()
        if isinstance(argument := launch.arguments[number], BufferArgument)
    }
    trace = device.trace(f"{module.name} {kernel.name}")
    return Capture(trace, stats, buffers, launch.independent_threads)
