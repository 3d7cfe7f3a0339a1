"""Comparison of a launch on ScoRD's hardware with the model of its cycles.

Ref: ScoRD (ISCA'20) Section IV.
"""

from __future__ import annotations

from collections.abc import Iterable

from racetrap.golden_model.gpu.region_table import MonitoredRegion
from racetrap.golden_model.scord.packets import Transaction
from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.sim.cosim.lockstep.lockstep import LockstepCounts, run_lockstep
from racetrap.sim.cosim.scord.cycle_model import CycleModel
from racetrap.sim.cosim.scord.fast_simulation import FastSim


def check_cycles(
    sim: FastSim,
    model: CycleModel,
    params: ScordParams,
    region: MonitoredRegion,
    transactions: Iterable[tuple[int, Transaction]],
    timing: MemoryTiming,
    seed: int,
) -> LockstepCounts:
    """Launch a kernel on both, and play its transactions cycle for cycle.

    Parameters
    ----------
    sim, model : FastSim, CycleModel
        Hardware and model, with the same launches before this one.
    params : ScordParams
        Their parameters.
    region : MonitoredRegion
        Monitored region.
    transactions : iterable of (int, Transaction)
        SM and transaction; each SM plays its own as fast as it can.
    timing : MemoryTiming
        Timing of SMs and memory, without errors.
    seed : int
        Seed of all that is random in it.

    Raises
    ------
    Mismatch
        If they differ in any cycle; names the first one, and the hardware's latest step.
    SimulationError
        If the simulation cannot continue.
    """
    sim.launch(region)
    model.launch(region)
    queues = sim.queues(transactions)
    sim.forget_steps()
    try:
        return run_lockstep(
            sim.detector_ports(), model.detector_ports(), queues, timing=timing, seed=seed
        )
    except Mismatch as difference:
        raise Mismatch(f"{difference}; {_latest_step(sim, params)}") from None


def _latest_step(sim: FastSim, params: ScordParams) -> str:
    """The step that the hardware made last, in words."""
    cycles = {bank: sim.step_cycles(bank) for bank in range(params.banks)}
    made = {bank: of_bank[-1] for bank, of_bank in cycles.items() if of_bank}
    if not made:
        return "the hardware has made no step"
    bank = max(made, key=lambda each: made[each])
    return f"the hardware's latest step is that of bank {bank}: {sim.steps(bank)[-1]}"
