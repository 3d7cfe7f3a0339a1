"""The generated hardware on whole traces, each step compared with the golden model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from racetrap.golden_model.events import Event
from racetrap.sim.cosim.gpu.gpu_simulation import GpuSimulation
from racetrap.sim.cosim.gpu.launch_result import LaunchResult
from racetrap.verdict.gpu.findings import Finding, RaceFinder

#: A kernel's hardware run: the simulation, the kernel's events and what was compared.
KernelRun = tuple[GpuSimulation, list[Event], LaunchResult]
#: Next steps of an event, taken from those of each bank in the trace's order.
StepsOfEvent = Callable[[Event, Any, list[Iterator[Any]]], Iterable[Any]]


@dataclass(frozen=True)
class SimulatedTrace:
    """Amounts of a trace on the hardware; everything was compared with the golden model.

    Parameters
    ----------
    steps, cycles : int
        Steps compared, and clock cycles, of all kernels.
    left_out : int or None
        Accesses that access buffers skipped; None if their policy skips none.
    """

    steps: int
    cycles: int
    left_out: int | None


def join_kernels(
    kernels: Iterable[KernelRun], finder: RaceFinder, steps_of_event: StepsOfEvent,
    found: Callable[[Finding], object], leaves_out: bool = False,
) -> SimulatedTrace:  # fmt: skip
    """Join the hardware's steps with the events of a trace.

    Parameters
    ----------
    kernels : iterable of KernelRun
        Kernels of the trace, each as the hardware has just played it.
    finder : RaceFinder
        The detector's.
    steps_of_event : callable
        Next steps of an event.
    found : callable
        Receives every race of the hardware's steps with both its accesses.
    leaves_out : bool
        Whether access buffers may skip accesses.
    """
    params = finder.params
    number = steps = cycles = left_out = 0
    for sim, events, result in kernels:
        banks = [iter(sim.steps(bank)) for bank in range(params.banks)]
        for event in events:
            for finding in finder.take(number, event, steps_of_event(event, params, banks)):
                found(finding)
            number += 1
        steps += result.steps
        cycles += result.cycles
        left_out += sim.read("ACCESSES_LEFT_OUT") if leaves_out else 0
    return SimulatedTrace(steps, cycles, left_out if leaves_out else None)
