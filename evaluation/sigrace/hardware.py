"""The generated hardware over a recorded program, each step compared with the golden model.

Ref: SigRace (ISCA'09) Sections 3 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass

from racetrap.golden_model.happens_before.happens_before import HappensBefore
from racetrap.golden_model.sigrace.environment import Environment
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.fast.simulation import SimulationError
from racetrap.sim.cosim.sigrace.machine import MachineRun, run_program
from racetrap.sim.cpu.program_traces import program_trace
from racetrap.sim.cpu.sigrace.compiled_sigrace import run_sigrace
from racetrap.verdict.threads.oracle import unconfirmed


@dataclass(frozen=True)
class HardwareRun:
    """Result of a program on the hardware.

    Parameters
    ----------
    events, steps, messages, cycles : int
        Events of the cores, steps compared on the trace ports of core units and RDM, Summary
        messages, and clock cycles.
    races : int
        Dynamic races found with it.
    difference : str
        First difference in one sentence; empty if there is none.
    """

    events: int
    steps: int
    messages: int
    cycles: int
    races: int
    difference: str


def run_hardware(model: FastModel[SigraceParams], trace: ThreadTrace, seed: int) -> HardwareRun:
    """Run a program on the hardware; a difference is a result, not an exception.

    The races found with it must equal those of the compiled SigRace.

    Parameters
    ----------
    model : FastModel
        The hardware.
    trace : ThreadTrace
        The program.
    seed : int
        Seed of all that is random in the simulated world.
    """
    sigrace = Sigrace(model.params)
    try:
        run = run_program(model, sigrace, trace, seed)
    except (Mismatch, SimulationError) as error:
        return HardwareRun(0, 0, 0, 0, 0, str(error))
    expected = run_sigrace(sigrace, trace)
    difference = ""
    if run.result != expected:
        difference = (
            f"Result must be that of the compiled SigRace, with {len(expected.races)} races, "
            f"not one with {len(run.result.races)}"
        )
    return HardwareRun(
        events=run.events,
        # Each event is a step of its core unit.
        steps=run.events + run.analysed + run.rdm_steps,
        messages=run.messages,
        cycles=run.cycles,
        races=len(run.result.races),
        difference=difference,
    )


@dataclass(frozen=True)
class ProgramSimulation:
    """One program to be run on the hardware; plain data, for a worker process.

    Parameters
    ----------
    model : FastModel
        The hardware.
    program, size : str
        The program, and the size of its run; it has a thread for each thread of the hardware.
    environment : str
        How threads are put on cores.
    seed : int
        Seed of all that is random in the simulated world.
    """

    model: FastModel[SigraceParams]
    program: str
    size: str
    environment: str
    seed: int


@dataclass(frozen=True)
class SimulatedProgram:
    """Races that the hardware found in a program, beside the oracle's.

    Parameters
    ----------
    program : str
        The program.
    events : int
        Events of its trace.
    failure : str
        Why there is no run, in a sentence; else empty.
    run : MachineRun or None
        The run.
    exact, unreal : int
        Static races of the oracle, and static races reported that it does not have.
    """

    program: str
    events: int
    failure: str = ""
    run: MachineRun | None = None
    exact: int = 0
    unreal: int = 0


def simulate_program(job: ProgramSimulation) -> SimulatedProgram:
    """Run a recorded program on the hardware, and compare its findings with the oracle's."""
    params = job.model.params
    trace = program_trace(job.program, job.size, params.threads)
    sigrace = Sigrace(params, Environment(job.environment))
    try:
        run = run_program(job.model, sigrace, trace, job.seed)
    except (Mismatch, SimulationError, ValueError) as error:
        return SimulatedProgram(job.program, len(trace), f"{job.program}: {error}")
    exact = HappensBefore().run(trace)
    unreal = {race.static_key for race in unconfirmed(run.result.races, exact)}
    return SimulatedProgram(
        job.program, len(trace), run=run, exact=len(exact.static), unreal=len(unreal)
    )
