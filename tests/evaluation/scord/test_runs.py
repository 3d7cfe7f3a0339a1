"""Whole runs: program, oracle, golden models, and the hardware."""

from __future__ import annotations

from dataclasses import replace

import pytest

from racetrap.evaluation.scord.applications import ApplicationVerdict
from racetrap.evaluation.scord.programs import (
    Build,
    Schedule,
    applications,
    micro_benchmarks,
    trace_of,
)
from racetrap.evaluation.scord.runs import BuildRun, RunResult, run_build
from racetrap.generators.scord import SCORD
from racetrap.golden_model.events import EventKind
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.sim.gpu.executor.device import DEFAULT_REGION_LOG2
from racetrap.verdict.gpu.fit import kernels_of
from racetrap.verdict.scord.detect import DETECTORS
from racetrap.verdict.scord.hardware import HardwareRun
from racetrap.verdict.scord.missed import Cause

PARAMS = {name: SCORD.presets[preset].params for name, preset in DETECTORS.items()}
FREE = Build("1DC", "1DC")
RACY = next(build for build in applications() if build.program == "1DC" and build.switches)


def run_of(build: Build, number: int = 0) -> BuildRun:
    return BuildRun(build, "tiny", Schedule(number, 1), 1, PARAMS, "cached")


def test_race_free_build_shows_nothing_without_coarse_units() -> None:
    result = run_build(run_of(FREE))
    assert result.events > 100
    assert not result.oracle
    assert not result.detectors["base"]
    assert not result.detectors["cached"]
    assert not result.outcomes


def test_racy_build_is_found_by_everyone_at_the_same_place() -> None:
    result = run_build(run_of(RACY))
    racing = {pc for first, second, _ in result.oracle for pc in (first, second)}
    assert racing
    for name in ("base", "cached"):
        assert {pc for pc, _ in result.detectors[name]} <= racing
        assert result.detectors[name]
    assert result.outcomes[Cause.REPORTED]
    assert {result.places[pc].split(":")[0] for pc in racing} == {"convolution_1d.cu"}


def test_a_run_gives_the_same_result_again() -> None:
    assert run_build(run_of(RACY, 5)) == run_build(run_of(RACY, 5))


def test_a_tight_region_makes_tag_conflicts() -> None:
    wide = trace_of(RACY, "tiny", Schedule(0, 1), 1, DEFAULT_REGION_LOG2)
    tight = trace_of(RACY, "tiny", Schedule(0, 1), 1, 0)
    assert wide.header.region.size_log2 == DEFAULT_REGION_LOG2
    assert tight.header.region.size_log2 < wide.header.region.size_log2


def test_builds_are_the_papers() -> None:
    singles = [build for build in applications() if len(build.switches) == 1]
    together = [build for build in applications() if len(build.switches) > 1]
    assert len(singles) == 26
    # All switches at once, of each application that has several.
    assert len(together) == 6
    assert sum(build.racy for build in micro_benchmarks()) == 18


@pytest.mark.parametrize("number", range(4))
def test_micro_benchmark_trace_is_a_kernel(number: int) -> None:
    build = next(micro_benchmarks())
    trace = trace_of(build, "tiny", Schedule(number, 1), 1, DEFAULT_REGION_LOG2)
    kernels = list(kernels_of(trace))
    assert len(kernels) == 1
    assert kernels[0][-1].kind == EventKind.KERNEL_END


def test_hardware_reports_what_the_golden_model_does() -> None:
    preset = SCORD.presets["scord"]
    model = build_fast(preset.name, preset.params)
    results = [run_build(replace(run_of(build), model=model)) for build in (FREE, RACY)]
    for result in results:
        assert result.hardware is not None
        assert result.hardware.accesses > 100
        assert result.hardware.dropped == 0
        assert result.hardware.races == result.detectors["cached"]
    assert results[1].hardware is not None
    assert results[1].hardware.races


def verdict(build: Build, golden: set, rtl: set) -> ApplicationVerdict:
    hardware = HardwareRun(rtl, 1, 1, 1, 0)
    found = ApplicationVerdict(build)
    found.add(RunResult(run_of(build), detectors={"golden": golden}, hardware=hardware))
    return found


def test_verdicts_on_applications_can_be_wrong() -> None:
    race = {(0x40, 5)}
    assert verdict(RACY, race, race).is_right
    assert verdict(FREE, set(), set()).is_right
    assert not verdict(RACY, set(), set()).is_right
    assert not verdict(FREE, race, race).is_right
    assert not verdict(RACY, race, {(0x44, 5)}).is_right
