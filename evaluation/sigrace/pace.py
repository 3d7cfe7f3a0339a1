"""Cores of a recorded program at their own pace: how long the RDM holds them up.

Every run is compared with the compiled model in full, in the hardware's order.

Ref: SigRace (ISCA'09) Sections 3.2 and 5.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from racetrap.generators.sigrace import SIGRACE
from racetrap.golden_model.sigrace.packets import RdmStepKind
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cosim.fast.build import FastModel, build_fast
from racetrap.sim.cosim.sigrace.fast_simulation import FastSim
from racetrap.sim.cosim.sigrace.stream_compare import StreamCompare

_PRESET = SIGRACE.presets["sigrace"]
#: Scanners and decompressors that are compared, from the preset's on.
MACHINES = ((1, 1), (2, 1), (4, 2), (7, 2))


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
    cycles : int
        Cycles of the program with cores that commit an instruction a cycle, and wait where their
        threads waited.
    core_stalls, link_stalls : int
        Of those, cycles in which an event of a core, or a flit of a link, had to wait, over all.
    """

    scanners: int
    decompressors: int
    messages: int
    message_cycles: float
    cycles: int
    core_stalls: int
    link_stalls: int


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
        steps = zip(sim.rdm_steps(), sim.rdm_cycles(), strict=True)
        ends = [cycle for step, cycle in steps if step.kind == RdmStepKind.PUSH]
    with FastSim(model, seed) as sim:
        compare = StreamCompare(sim, params, trace.header.threads, paced=True)
        run = compare.run(trace.events)
        return Pace(
            params.scanners, params.decompressors, run.messages, _mean_step(ends), run.cycles,
            sim.stats.stalls, sim.rdm.counters()["stall_cycles"],
        )  # fmt: skip


def _mean_step(cycles: list[int]) -> float:
    steps = [after - before for before, after in pairwise(cycles)]
    return sum(steps) / len(steps) if steps else 0.0
