"""Runs of kernels for commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Console

from racetrap.commands.shared.terminal import fail, input_errors

if TYPE_CHECKING:
    from racetrap.sim.gpu.cuda.toolkit import CompilerOptions
    from racetrap.sim.gpu.launch.capture import Capture

__all__ = ["capture_kernel", "run_to_dict"]


def capture_kernel(
    kernel_file: str, launch_file: str, options: CompilerOptions
) -> Iterator[Capture]:
    """Run a kernel file as a launch file says, in each of its schedules; exit if that cannot be
    done."""
    # A command that is given a trace has no use for the executor.
    from racetrap.sim.gpu.executor.machine.errors import ExecutionError
    from racetrap.sim.gpu.launch.capture import capture
    from racetrap.sim.gpu.launch.kernel_source import read_kernel_file
    from racetrap.sim.gpu.launch.launch_file import read_launch

    with input_errors():
        launch = read_launch(launch_file)
        module = read_kernel_file(kernel_file, options)
    for schedule in range(launch.schedules):
        # On a terminal, a sign that the kernel runs.
        with input_errors(), Console(stderr=True).status(f"Running {launch.kernel}"):
            try:
                captured = capture(module, launch, schedule)
            except ExecutionError as error:
                fail(error)
        yield captured


def run_to_dict(captured: Capture) -> dict[str, int]:
    """Counts of a run as plain data."""
    stats = captured.stats
    return {
        "blocks": stats.blocks,
        "warp_instructions": stats.warp_instructions,
        "thread_instructions": stats.thread_instructions,
    }
