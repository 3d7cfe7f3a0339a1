"""Runs of the micro-benchmark suite: benchmark, placement and schedule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from racetrap.golden_model.events import Event
from racetrap.golden_model.gpu.params import GpuParams
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS, MicroBenchmark
from racetrap.sim.gpu.suites.micro.scheduler import (
    FIXED_SCHEDULES,
    BlockPlacement,
    random_schedule,
    run_program,
)


@dataclass(frozen=True)
class SuiteRun:
    """One run of one micro-benchmark.

    Parameters
    ----------
    benchmark : MicroBenchmark
        The program and its expected verdict.
    placement : BlockPlacement
        Placement of its blocks.
    schedule : str
        Name of a fixed schedule, or ``random-<seed>``.
    """

    benchmark: MicroBenchmark
    placement: BlockPlacement
    schedule: str

    def events(self) -> list[Event]:
        """The complete trace of the run, which is reproducible."""
        schedule = FIXED_SCHEDULES.get(self.schedule)
        if schedule is None:
            schedule = random_schedule(int(self.schedule.removeprefix("random-")))
        return run_program(self.benchmark, schedule, self.placement)


def _fits(benchmark: MicroBenchmark, placement: BlockPlacement, params: GpuParams) -> bool:
    last = benchmark.blocks - 1
    sm, slot, warp = placement.place(last, benchmark.warps_per_block)
    return (
        sm < params.sm_count
        and slot < params.blocks_per_sm
        and warp + benchmark.warps_per_block <= params.warps_per_sm
    )


def suite_runs(params: GpuParams, schedules: int, seed: int) -> Iterator[SuiteRun]:
    """Every micro-benchmark in every fixed schedule and in random ones, in placements that fit.

    Parameters
    ----------
    params : GpuParams
        Configuration, for the geometry.
    schedules : int
        Random schedules of each benchmark; placements take turns.
    seed : int
        Seed of the first; consecutive for the others.

    Raises
    ------
    ValueError
        If a benchmark fits nowhere.
    """
    for benchmark in MICRO_BENCHMARKS.values():
        placements = [place for place in BlockPlacement if _fits(benchmark, place, params)]
        if not placements:
            raise ValueError(
                f"Parameters sm_count, blocks_per_sm and warps_per_sm must have room for "
                f"{benchmark.blocks} blocks of {benchmark.warps_per_block} warps "
                f"({benchmark.name}), not {params.sm_count}, {params.blocks_per_sm} "
                f"and {params.warps_per_sm}"
            )
        for placement in placements:
            for name in FIXED_SCHEDULES:
                yield SuiteRun(benchmark, placement, name)
        for number in range(schedules):
            placement = placements[number % len(placements)]
            yield SuiteRun(benchmark, placement, f"random-{seed + number}")
