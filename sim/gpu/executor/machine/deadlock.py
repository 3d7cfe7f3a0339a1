"""Deadlock report of a launch that cannot end.

Ref: PTX ISA 9.0, Section 9.7.13.1 (bar): a barrier to which some threads never come.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from racetrap.sim.gpu.executor.machine.errors import Fault, KernelFault
from racetrap.sim.gpu.executor.machine.program_counters import instruction_number
from racetrap.sim.gpu.ptx.kernel_names import written_name

if TYPE_CHECKING:
    from racetrap.sim.gpu.executor.machine.launch import Launch


#: Lines of a report at most.
_MOST_LINES = 64


def _lines(launch: Launch) -> Iterator[str]:
    for block in launch.blocks:
        for warp in block.warps:
            if not warp.alive:
                continue
            for pc, mask, barrier in warp.positions():
                waits = barrier or ("a change of what it polls" if warp in launch.sleepers else "")
                yield (
                    f"  block {launch.block_position(block.index)} warp {warp.index}: "
                    f"pc {pc:#x} ({launch.program.places[instruction_number(pc)]}), "
                    f"lanes {mask:#010x}, {f'waits for {waits}' if waits else 'runs'}"
                )


def deadlock_error(launch: Launch, reason: str) -> KernelFault:
    """The error of a launch that cannot end, with the position of each warp."""
    lines = list(_lines(launch))
    more = len(lines) - _MOST_LINES
    if more > 0:
        lines[_MOST_LINES:] = [f"  and {more} more"]
    unplaced = launch.unplaced
    if unplaced:
        lines.append(f"  {unplaced} blocks not placed yet")
    head = f"Kernel {written_name(launch.kernel_name)} does not end: {reason}"
    return KernelFault(Fault.NO_END, "\n".join([head, *lines]))
