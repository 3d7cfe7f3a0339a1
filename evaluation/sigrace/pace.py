"""Cores of a recorded program at their own pace: how long the RDM holds them up.

Every run is compared with the compiled model in full, in the hardware's order.

Ref: SigRace (ISCA'09) Sections 3.2 and 5.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from racetrap.generators.sigrace import SIGRACE
from racetrap.golden_model.sigrace.packets import RdmStepKind
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cosim.fast.build import FastModel, build_fast
from racetrap.sim.cosim.sigrace.fast_simulation import FastSim
from racetrap.sim.cosim.sigrace.stream_compare import StreamCompare

_PRESET = SIGRACE.presets["sigrace"]
#: Scanners and decompressors that are compared: the preset's; a scanner for each other thread, but
#: for eight queues; one for each queue.
MACHINES = ((1, 1), (7, 2), (8, 4))


@dataclass(frozen=True)
class Pace:
    """A program on hardware with some scanners and decompressors.

    Parameters
    ----------
    scanners, decompressors : int
        BlockHistoryQueues searched, and messages decompressed, at once.
    messages : int
        Summary messages.
    message_cycles : float
        Cycles from a message's end in the RDM to the next one's, on the mean, with cores that
        commit as fast as they can.
    search_cycles, decompression_cycles, idle_cycles : float
        Of those, cycles in which the RDM compares a message, in which it only decompresses, and in
        which it has none.
    cycles : int
        Cycles of the program with cores that commit an instruction a cycle, and wait where their
        threads waited.
    core_stalls, rdm_stalls : int
        Of those, cycles in which an event of a core had to wait, over all cores, and those in which
        the core's link took nothing either.
    """

    scanners: int
    decompressors: int
    messages: int
    message_cycles: float
    search_cycles: float
    decompression_cycles: float
    idle_cycles: float
    cycles: int
    core_stalls: int
    rdm_stalls: int


def build_machines() -> list[FastModel[SigraceParams]]:
    """The paper's hardware with the scanners and decompressors of each of ``MACHINES``."""
    return [
        build_fast(
            _PRESET.name,
            replace(_PRESET.params, scanners=scanners, decompressors=decompressors),
        )
        for scanners, decompressors in MACHINES
    ]


def measure_pace(model: FastModel[SigraceParams], trace: ThreadTrace, seed: int) -> Pace:
    """Run a program at full speed and at its own pace.

    Parameters
    ----------
    model : FastModel
        The hardware.
    trace : ThreadTrace
        The program.
    seed : int
        Seed of the simulated world.

    Raises
    ------
    Mismatch
        If hardware and golden model differ.
    SimulationError
        If the simulation cannot continue.
    """
    params = model.params
    with FastSim(model, seed) as sim:
        StreamCompare(sim, params, trace.header.threads).run(trace.events)
        full_speed = _cycles_a_message(sim)
    with FastSim(model, seed) as sim:
        compare = StreamCompare(sim, params, trace.header.threads, paced=True)
        run = compare.run(trace.events)
        return Pace(
            params.scanners, params.decompressors, run.messages, *full_speed, run.cycles,
            sim.stats.stalls, sim.stats.rdm_stalls,
        )  # fmt: skip


def _cycles_a_message(sim: FastSim) -> tuple[float, float, float, float]:
    """All of a run, those of searches and of decompression, and the others, from the first end."""
    steps = zip(sim.rdm_steps(), sim.rdm_cycles(), strict=True)
    ends = [cycle for step, cycle in steps if step.kind != RdmStepKind.COMPARE]
    whole = ends[-1] - ends[0] if ends else 0
    searching, decompressing = sim.stats.searching, sim.stats.decompressing
    idle, count = whole - searching - decompressing, max(len(ends) - 1, 1)
    return whole / count, searching / count, decompressing / count, idle / count
