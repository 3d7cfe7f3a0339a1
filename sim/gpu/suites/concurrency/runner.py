"""Runs of the suite's cases on the executor, analysed by both oracles and by ScoRD.

Ref: BARRACUDA (PLDI'17) Section 6.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from racetrap.generators.scord import SCORD
from racetrap.golden_model.barracuda.barracuda import Barracuda
from racetrap.golden_model.barracuda.race import Result
from racetrap.golden_model.barracuda.scoped import ScopedOracle
from racetrap.golden_model.events import Geometry, Space
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.report import race_words
from racetrap.golden_model.scord.scord import Scord
from racetrap.golden_model.trace.gpu.trace import Trace
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.launch.kernel_files import load_kernels
from racetrap.sim.gpu.suites.concurrency.cases import BARRIER_DIVERGENCE, Case, RaceClasses

#: Warp schedulers and seeds that every case runs under.
SCHEDULES = (
    ("in-order", 1),
    ("round-robin", 1),
    ("greedy-then-oldest", 1),
    *(("random", seed) for seed in range(1, 6)),
)

_PACKAGE = "racetrap.sim.gpu.suites.concurrency"
#: Room for every block of a case at once: two SMs, so that neighbouring blocks are on both.
GEOMETRY = Geometry(sm_count=2, blocks_per_sm=4, warps_per_sm=16)
_DATA_BYTES = 4096
_SYNC_BYTES = 256
#: The detector as it is in the paper, but with an entry for each word: no race is missed
#: because words share one.
_PARAMS = SCORD.presets["scord-nocache"].params


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """Verdicts of both oracles and of ScoRD on one run, or on several together.

    Parameters
    ----------
    races, scoped : RaceClasses
        Classes of race found by BARRACUDA's analysis and by the scope-aware oracle.
    spaces : frozenset of Space
        Memories in which the scope-aware oracle found them.
    scord : frozenset of str
        Kinds of race that ScoRD reports.
    """

    races: RaceClasses = frozenset()
    scoped: RaceClasses = frozenset()
    spaces: frozenset[Space] = frozenset()
    scord: frozenset[str] = frozenset()

    def __or__(self, other: CaseOutcome) -> CaseOutcome:
        return CaseOutcome(
            self.races | other.races,
            self.scoped | other.scoped,
            self.spaces | other.spaces,
            self.scord | other.scord,
        )


def run_case(case: Case, device: Device) -> tuple[bytes, ...]:
    """Run the case's kernel on a device; gives what it leaves in its buffers."""
    module = load_kernels(_PACKAGE, case.source)
    buffers = {device.allocate(size): size for size in (_DATA_BYTES, _SYNC_BYTES)}
    for _ in range(case.launches):
        device.launch(module, case.name, case.grid, case.block, [*buffers], case.dynamic_shared)
    return tuple(bytes(device.read(buffer, "u1", size)) for buffer, size in buffers.items())


def capture(case: Case, scheduler: str, seed: int) -> Trace:
    """Run the case's kernel on a new device and return its trace.

    Parameters
    ----------
    case : Case
        What to run.
    scheduler, seed : str, int
        Warp scheduler of the executor, and its seed.
    """
    device = Device(GEOMETRY, scheduler=scheduler, seed=seed)
    run_case(case, device)
    return device.trace(f"{case.name}, {scheduler}, seed {seed}")


def _verdict(result: Result) -> RaceClasses:
    classes = frozenset(race.race_class.value for race in result.races)
    return classes | (BARRIER_DIVERGENCE if result.barrier_divergences else frozenset())


def analyse(trace: Trace) -> CaseOutcome:
    """Run both oracles and the golden model of ScoRD over a trace."""
    scoped = ScopedOracle().run(trace)
    region = trace.header.region
    scord = Scord(_PARAMS, Region(region.data_base, region.size_log2, 0))
    for event in trace:
        scord.run(event)
    return CaseOutcome(
        races=_verdict(Barracuda().run(trace)),
        scoped=_verdict(scoped),
        spaces=frozenset(race.space for race in scoped.races),
        scord=frozenset(race_words(report.race) for report in scord.races),
    )


def run_schedules(case: Case, schedules: Iterable[tuple[str, int]] = SCHEDULES) -> CaseOutcome:
    """Verdicts on several schedules together: every race that occurs in one of them."""
    outcome = CaseOutcome()
    for scheduler, seed in schedules:
        outcome |= analyse(capture(case, scheduler, seed))
    return outcome
