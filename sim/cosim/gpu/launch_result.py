"""Results of a kernel launch on the fast co-simulation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from racetrap.generators.systems import system_of
from racetrap.golden_model.gpu.params import GpuParams
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.gpu.report_filter import ReportFilter
from racetrap.sim.cosim.comparison.mismatch import Mismatch, compare_counters
from racetrap.sim.cosim.gpu.gpu_launches import SimStats, write_errors
from racetrap.sim.cosim.gpu.gpu_simulation import GpuSimulation
from racetrap.sim.cosim.gpu.sweep import is_swept


@dataclass(frozen=True)
class LaunchResult:
    """Amounts compared in one launch.

    Parameters
    ----------
    accesses, steps, races : int
        Accesses to monitored words, steps (with fences and other accesses), races.
    reports : tuple of int
        Records in the ring, oldest first.
    cycles : int
        Clock cycles from the launch's first step to its last, over all banks.
    digest : int
        Digest of the simulation's transfers so far, with their cycles.
    """

    accesses: int
    steps: int
    races: int
    reports: tuple[int, ...]
    cycles: int
    digest: int


class Outcome(NamedTuple):
    """State of the idle hardware after a launch.

    Parameters
    ----------
    reports : list of int
        Records in the ring, oldest first.
    counters : dict of str to int
        Event counters.
    read_errors : int
        Metadata reads answered with an error.
    """

    reports: list[int]
    counters: dict[str, int]
    read_errors: int


def outcome(sim: GpuSimulation, params: GpuParams, before: SimStats) -> Outcome:
    """Outcome of a launch; its counters of failed writes are compared, and whether reports were
    dropped for a reason.

    Parameters
    ----------
    sim : GpuSimulation
        The hardware.
    params : GpuParams
        Its parameters.
    before : SimStats
        Its statistics before the launch.

    Raises
    ------
    Mismatch
        If the hardware's counts differ from the memories' error responses, reports were dropped
        though neither the ring nor a bank's FIFO can have been full, or the filter has let pass or
        suppressed what it must not.
    """
    reports, counters, after = sim.reports(), sim.counters(), sim.stats
    compare_counters(counters, write_errors(before, after))
    written, errors = counters["reports_written"], counters["report_write_errors"]
    lost, passed = counters["reports_dropped"] - errors, written + errors
    passed += counters["reports_suppressed"]
    # Nobody reads the ring during a launch; what fills a bank's FIFO passes it later.
    if lost > 0 and written != sim.ring_records and passed < sim.report_fifo_depth:
        raise Mismatch(
            f"Reports must be dropped when the ring has {sim.ring_records} or a bank's FIFO "
            f"{sim.report_fifo_depth}, not when {written} are written of {passed} in all"
        )
    if not sim.filters_reports and counters["reports_suppressed"]:
        raise Mismatch(
            f"Reports suppressed without the filter must be 0, not {counters['reports_suppressed']}"
        )
    # Otherwise one may have passed the filter and then been dropped.
    if sim.filters_reports and written != sim.ring_records and not errors:
        _check_filter(params, reports)
    return Outcome(reports, counters, after.read_errors - before.read_errors)


def _check_filter(params: GpuParams, records: Sequence[int]) -> None:
    """All records have passed the report filter, which changes with these alone."""
    report = system_of(params).own("sim.cosim", "scoreboard").Scoreboard.report_class
    golden = ReportFilter(params)
    for number, record in enumerate(records):
        key = report.from_record(record).key
        if not golden.admit(*key):
            raise Mismatch(
                f"Report {number} must be suppressed: the filter has its pc {key[0]:#x} and kind "
                f"{key[1]}"
            )


def launch_result(sim: GpuSimulation, params: Any, steps: int, seen: Outcome) -> LaunchResult:
    """Result of a launch without a difference."""
    taken = [at for bank in range(params.banks) if (at := sim.step_cycles(bank))]
    cycles = max(at[-1] for at in taken) - min(at[0] for at in taken) + 1 if taken else 0
    races = sum(value for name, value in seen.counters.items() if name.startswith("races_"))
    return LaunchResult(
        seen.counters["accesses"], steps, races, tuple(seen.reports), cycles, sim.stats.digest
    )


def metadata_reader(sim: GpuSimulation, params: GpuParams, region: Region) -> Callable[[int], int]:
    """Reader of the metadata by index; those of a small region are fetched at once."""
    if not is_swept(params, region):
        return sim.entry
    entries = sim.entries(np.arange(region.entries(params), dtype=np.uint64)).tolist()
    return entries.__getitem__
