"""Cost of ScoRD on Vortex, and on the timing model for the same instructions.

Ref: ScoRD (ISCA'20) Section V, Figure 8.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import NamedTuple

from racetrap.evaluation.scord.overhead_forms import DetectorForms
from racetrap.evaluation.scord.overhead_statements import MEAN
from racetrap.evaluation.table import Table
from racetrap.evaluation.vortex.overhead import OverheadRun
from racetrap.evaluation.vortex.programs import CORES, Program
from racetrap.sim.cosim.vortex.kernel_image import compiler
from racetrap.sim.cosim.vortex.package import vortex_source
from racetrap.sim.failure import Failure
from racetrap.sim.gpu.timing.params import TimingParams
from racetrap.sim.gpu.timing.replay import Replay

#: Memories of Vortex whose wires metadata share, as they do in the model.
MEMORIES = ("latency 20, shared", "latency 140, shared")
_DETECTOR = "ScoRD"
_ON_VORTEX = " on Vortex"
#: Cycles of the model's way to the L2 and back, besides those in it.
_WAY = 4
#: A GPU like Vortex as ``Machine`` has it: an instruction a cycle, requests of 16 bytes, one a
#: cycle, an L1 of 4 KB, and an L2 that holds all and is filled at once, instead of the memory.
_GPU = TimingParams(
    sms=CORES, schedulers=1, core_mhz=1, dram_mhz=1, segment_log2=4, l1_sets=8, l1_cycles=1,
    flit_bytes=24, hop_cycles=1, channels=1, slices_per_channel=1, l2_sets=1 << 10,
    dram_cycles=0, t_rrd=0, t_rcd=0, t_ras=0, t_rp=0, t_rc=0, t_cl=0, t_wl=0, t_ccd=0,
    t_ccd_group=0, t_wr=0, lhd=0, noc=0,
)  # fmt: skip


class OnBoth(NamedTuple):
    """Cycles of an application.

    Parameters
    ----------
    vortex, vortex_with : int
        On Vortex, without and with ScoRD.
    model, model_with : int
        On the timing model, with the cycles of the same hardware.
    model_no_time : int
        Likewise, with a detector that only reads and writes metadata.
    """

    vortex: int
    vortex_with: int
    model: int
    model_with: int
    model_no_time: int

    @property
    def slowdowns(self) -> tuple[float, float, float]:
        """Cycles with ScoRD for each without: on Vortex, on the model, and without time of its
        own."""
        return (
            self.vortex_with / self.vortex, self.model_with / self.model,
            self.model_no_time / self.model,
        )  # fmt: skip

    @property
    def amounts(self) -> tuple[int, int, int, int]:
        """Cycles without ScoRD on Vortex and on the model, and what it adds to each."""
        return (
            self.vortex, self.model, self.vortex_with - self.vortex, self.model_with - self.model,
        )  # fmt: skip


def vortex_missing() -> str:
    """What must be installed to run kernels on Vortex; empty if all is there."""
    try:
        vortex_source()
        compiler()
    except Failure as missing:
        return str(missing)
    return ""


def runs_on_both(names: Iterable[str]) -> dict[str, list[OverheadRun]]:
    """Runs of applications with each memory, by a row's label."""
    return {
        f"{name}{_ON_VORTEX}": [OverheadRun(Program(name), _DETECTOR, each) for each in MEMORIES]
        for name in names
    }


def run_on_both(run: OverheadRun) -> OnBoth:
    """Run an application on Vortex without and with ScoRD, and replay what it has done with ScoRD
    on the timing model; errors as of ``run_beside``."""
    alone, done = run.sessions()
    gpu = replace(_GPU, l2_cycles=run.machine.latency - _WAY)
    detecting = replace(gpu, detects=1)
    with Replay(done.trace, gpu.segment_log2) as replay:
        without, no_time = replay.run(gpu), replay.run(detecting)
    models = DetectorForms(done.trace, detecting).models({_DETECTOR: run.params})
    return OnBoth(
        alone.cycles, done.cycles, without.cycles, models[_DETECTOR].cycles, no_time.cycles
    )


def timing_tables(found: Mapping[str, Sequence[OnBoth]]) -> list[Table]:
    """Both beside each other, from the results by a row's label."""
    by_program = {label.removesuffix(_ON_VORTEX): runs for label, runs in found.items()}
    slowdowns: dict[str, list[float]] = {
        name: [value for run in runs for value in run.slowdowns]
        for name, runs in by_program.items()
    }
    if slowdowns:
        slowdowns[MEAN] = [fmean(column) for column in zip(*slowdowns.values(), strict=True)]
    return [
        Table(
            "vortex", "Cycles with ScoRD for each without, on Vortex and on the timing model",
            "The model replays the instructions of the run on Vortex with ScoRD.",
            _columns("Vortex", "model", "model, no time of its own"),
            tuple((name, *(round(each, 3) for each in row)) for name, row in slowdowns.items()),
        ),
        Table(
            "vortex-cycles", "Cycles without ScoRD, and cycles that it adds",
            "Of the same runs.",
            _columns("Vortex", "model", "added on Vortex", "added by the model"),
            tuple(
                (name, *(cycles for run in runs for cycles in run.amounts))
                for name, runs in by_program.items()
            ),
        ),
    ]  # fmt: skip


def _columns(*kinds: str) -> tuple[str, ...]:
    memories = (memory.removesuffix(", shared") for memory in MEMORIES)
    return ("program", *(f"{kind}, {memory}" for memory in memories for kind in kinds))
