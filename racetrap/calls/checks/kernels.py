"""Runs of kernels for commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from racetrap.commands.shared.terminal import InputError, input_errors, launch_bar
from racetrap.verdict.gpu.schedules import scheduler_of

if TYPE_CHECKING:
    from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions
    from racetrap.sim.gpu.launch.capture import Capture
    from racetrap.sim.gpu.launch.launch_file import LaunchSpec
    from racetrap.sim.gpu.ptx.module import Module


def read_kernel(
    kernel_file: str, launch_file: str, options: CompilerOptions | None, lockstep: bool = False
) -> tuple[Module, LaunchSpec]:
    """A kernel file and a launch file, in lockstep if the user asks for it; exit if they cannot be
    read."""
    # A command with a trace does not need the executor.
    from racetrap.sim.gpu.launch.kernel_source import read_kernel_file
    from racetrap.sim.gpu.launch.launch_file import read_launch

    with input_errors():
        launch = read_launch(launch_file)
        if lockstep:
            launch = launch.model_copy(update={"independent_threads": False})
        return read_kernel_file(kernel_file, options), launch


def capture_kernel(module: Module, launch: LaunchSpec, schedule: int = 0) -> Capture:
    """Run kernels by a launch file, in a schedule of that number; exit if that fails."""
    from racetrap.sim.gpu.executor.machine.errors import ExecutionError
    from racetrap.sim.gpu.launch.capture import capture

    if schedule == 1 and launch.schedules is None:
        launch, schedule = launch.model_copy(update={"scheduler": scheduler_of(1, "")}), 0
    with input_errors():
        try:
            return capture(module, launch, schedule, watch=launch_bar, keeps_going=True)
        except ExecutionError as error:
            raise InputError(str(error)) from error


def run_to_dict(captured: Capture) -> dict[str, int]:
    """Counts of a run as plain data."""
    stats = captured.stats
    return {
        "blocks": stats.blocks,
        "warp_instructions": stats.warp_instructions,
        "thread_instructions": stats.thread_instructions,
    }
