"""`racetrap bench`: its tables and JSON, with the measuring done by others."""

import json

import pytest

from docs.site.history.figures import figures_of
from racetrap.evaluation.noncoherent import accelerator_rates
from racetrap.evaluation.noncoherent.accelerator_rates import AnalysisRun
from racetrap.evaluation.scord import cycles as scord_cycles
from racetrap.evaluation.scord import throughput as scord_throughput
from racetrap.evaluation.scord.cycles import Bandwidth, Fences, Load, Width
from racetrap.evaluation.sigrace import cycles as sigrace_cycles
from racetrap.evaluation.sigrace import recorder_rates
from racetrap.evaluation.sigrace import throughput as sigrace_throughput
from racetrap.evaluation.sigrace.cycles import Scan, Sustained
from racetrap.evaluation.sigrace.recorder_rates import RecorderRates
from racetrap.evaluation.throughput import executor_loops, executor_rates, speed
from racetrap.evaluation.throughput.executor_rates import ExecutorRun
from racetrap.evaluation.throughput.rates import Rate
from racetrap.evaluation.throughput.speed import Rates, SameTrace
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cpu.errors import RecordError
from tests.support.long_work import stop_after

#: Keys of every long work.
_PROGRESS = {"complete", "missing", "kept"}


def _rates(preset, params, kind, size=None, runs=5):
    if preset == "sigrace":
        return Rates(Rate(5e5, 4e5, 6e5), Rate(3e5, 2e5, 4e5), Rate(71e3, 7e4, 72e3))
    return Rates(Rate(1000.0, 900.0, 1100.0), Rate(2000.0, 1999.0, 2001.0), Rate(400, 390, 410))


@pytest.fixture
def figures(monkeypatch):
    monkeypatch.setattr(speed, "rates", _rates)
    same = {"scord": SameTrace(50.0, 1500.0), "sigrace": SameTrace(4000.0, 100_000.0)}
    monkeypatch.setattr(speed, "same_trace", lambda system: same[system.name])
    monkeypatch.setattr(scord_cycles, "streaming", lambda latency: 0.99 / latency)
    monkeypatch.setattr(scord_cycles, "back_to_back", lambda latency: 0.98)
    monkeypatch.setattr(
        scord_cycles,
        "width",
        lambda words, merged, latency: [
            Width(words, "lines" if merged else "lines, not merged", 0.9 * words / latency, 0.9)
        ],
    )
    monkeypatch.setattr(scord_cycles, "fences", lambda lanes, sms: Fences(lanes, sms, 0.96 * lanes))
    monkeypatch.setattr(scord_cycles, "one_slice", lambda latency: Load("one port", 900, 7.9, 0.99))
    monkeypatch.setattr(
        scord_cycles, "slices", lambda latency: [Load(f"after {latency}", 800, 8.0, 0.0)]
    )
    monkeypatch.setattr(
        scord_cycles, "banks",
        lambda preset, latency: {"scord": 1.0, "scord-banks4": 3.9}[preset] / latency,
    )  # fmt: skip
    monkeypatch.setattr(
        scord_cycles, "bandwidth", lambda slots, latency: Bandwidth(slots, latency, 0.5)
    )
    monkeypatch.setattr(
        executor_rates, "measure_executor",
        lambda threads, *, independent_threads: ExecutorRun(
            6_000_000 if independent_threads else 7_000_000, 1, 1.0
        ),
    )  # fmt: skip
    monkeypatch.setattr(executor_loops, "measure_loop", lambda kernel, *launch: 0.25)
    application = {
        "events": 1190, "operations": 30228, "executor": 5e4, "barracuda": 6e4, "scoped": 8e4,
        "causality": 5e5,
    }  # fmt: skip
    monkeypatch.setattr(
        scord_throughput, "application_rates", lambda name, size: {"name": name} | application
    )
    monkeypatch.setattr(sigrace_cycles, "worst_scan", lambda: Scan(112, 133))
    monkeypatch.setattr(
        sigrace_cycles, "sustained", lambda block: Sustained(block, 192, 111.5, 250.25, 7, 9)
    )
    rates = Rate(6e7, 5e7, 7e7), Rate(4e6, 3e6, 5e6), Rate(4e7, 3e7, 5e7), Rate(12.3e6, 1e7, 2e7)
    monkeypatch.setattr(
        recorder_rates, "recorder_rates",
        lambda program: RecorderRates(program.source.name, 12_000_000, *rates, 4711, 47.5, 0.25),
    )  # fmt: skip
    program = {"events": 742130, "exact": 2.5e6, "sigrace": 240_000.0}
    monkeypatch.setattr(
        sigrace_throughput, "program_rates", lambda name, size: {"name": name} | program
    )
    monkeypatch.setattr(
        accelerator_rates,
        "measure_analysis",
        lambda operations, mode, buffers: AnalysisRun(operations, mode, buffers, 7449, 2.0, 6.0),
    )
    monkeypatch.setattr(accelerator_rates, "recorder_rate", lambda step: Rate(3e7, 2e7, 4e7 + step))


def test_tables(racetrap, figures, tmp_path):
    file = tmp_path / "bench.json"
    result = racetrap("bench", "--json", file)
    assert result.exit_code == 0
    for text in (
        "one entry only",
        "0.98",
        "3.9",
        "3.84",
        "latency 100",
        "50",
        "golden, plain Python",
        "1,000",
        "1,999",
        "30",
        "7,000,000",
        "6,000,000",
        "30,228",
        "133",
        "111.5",
        "250.2",
        "71,000",
        "25",
        "12,000,000",
        "kvstore.c",
        "47.5",
        "12.3",
        "4,711",
        "3.5",
        "742,130",
        "2,500,000",
        "7,449",
        "40,000,016",
    ):
        assert text in result.output
    assert "Measured with python" in result.output
    data = json.loads(file.read_text())
    assert data["tools"]["verilator"]
    scord = data["scord"]
    assert scord["banks"]["ratio"] == 3.9
    assert [row["accesses_per_cycle"] for row in scord["widths"]] == 2 * [0.9, 1.8, 3.6, 7.2]
    assert len(scord["bandwidth"]) == len(scord_cycles.OUTSTANDING) * len(scord_cycles.LATENCIES)
    assert scord["speed"]["together"]["median"] == 400
    assert {name: rates["hardware"]["median"] for name, rates in scord["saturated"].items()} == {
        "scord": 2000.0, "scord-wide": 2000.0, "scord-tiny, eight words": 2000.0
    }  # fmt: skip
    sigrace = data["sigrace"]
    assert sigrace["worst_scan"] == {"comparisons": 112, "cycles": 133}
    assert sigrace["sustained"][0]["block_instructions"] == 2000
    assert sigrace["speed"]["same_trace"]["cocotb"] == 4000
    assert sigrace["recorder"][0]["recorded"]["low"] == 5e7
    assert sigrace["recorder"][0]["sigrace"]["high"] == 2e7
    assert sigrace["recorder"][0]["slowdown"] == 14.0  # (0.2 + 3 + 0.3) / 0.25
    assert sigrace["recorder"][0]["sigrace_ratio"] == 4e7 / 12.3e6
    assert data["noncoherent"]["analysis"][2]["check"] == 6.0
    assert data["noncoherent"]["recorder"]["scattered"]["low"] == 2e7
    assert (scord["latency"], scord["slices"][1]["traffic"]) == (None, "after 140")
    # The history of the results reads it.
    figures = {name: value for name, _, value in figures_of(["bench"], data)}
    assert figures["metadata port of scord-tiny, words a cycle 8, lines"] == 7.2
    assert figures["RDM of sigrace, blocks of 2000 instructions"] == 250.25
    assert figures["recorder of accelerators, neighbours"] == 3e7


def test_one_system(racetrap, figures):
    result = racetrap("bench", "sigrace", "--json", "-")
    assert result.exit_code == 0
    assert json.loads(result.stdout).keys() - _PROGRESS == {"sigrace", "tools"}
    assert "Throughput, scord" not in result.stderr


def test_program_that_cannot_be_recorded(racetrap, figures, monkeypatch):
    def fail(program):
        raise RecordError("Command gcc was not found")

    monkeypatch.setattr(recorder_rates, "recorder_rates", fail)
    result = racetrap("bench", "sigrace")
    assert result.exit_code == 3
    assert result.stderr == "racetrap: Command gcc was not found.\n"


def test_difference_from_the_golden_model(racetrap, figures, monkeypatch):
    def differ(latency):
        raise Mismatch("Bank 0, step 3: something")

    monkeypatch.setattr(scord_cycles, "streaming", differ)
    result = racetrap("bench")
    assert result.exit_code == 3
    assert (
        result.stderr
        == "racetrap: Hardware and golden model disagree: Bank 0, step 3: something.\n"
    )


def test_a_slow_memory(racetrap, figures):
    result = racetrap("bench", "scord", "--latency", 10, "--json", "-")
    data = json.loads(result.stdout)
    scord = data["scord"]
    assert scord["latency"] == 10
    assert (scord["accesses_per_cycle"]["streaming"], scord["banks"]["four"]) == (0.099, 0.39)
    assert [row["accesses_per_cycle"] for row in scord["widths"][:2]] == [0.09, 0.18]
    assert {row["latency"] for row in scord["bandwidth"]} == {10}
    assert len(scord["bandwidth"]) == len(scord_cycles.OUTSTANDING)
    assert scord["slices"][1]["traffic"] == "after 10"
    assert "metadata answers after 10 cycles" in result.stderr
    assert "15 SMs, latency 10;" in result.stderr
    # Figures of the history do not pass for those of a memory that answers at once.
    names = [name for name, _, _ in figures_of(["bench"], data)]
    assert "four banks of scord, latency 10" in names
    assert "four banks of scord" not in names


def test_latency_is_that_of_scord(racetrap):
    result = racetrap("bench", "sigrace", "--latency", 10)
    assert result.exit_code == 2
    assert "Option --latency is for detectors with memory, not for sigrace" in result.stderr


def test_a_stopped_bench_goes_on_and_a_whole_one_measures_anew(racetrap, figures, monkeypatch):
    stop_after(monkeypatch, 1, KeyboardInterrupt())
    stopped = racetrap("bench", "sigrace", "--json", "-")
    assert stopped.exit_code == 130
    partial = json.loads(stopped.stdout)
    assert (partial["complete"], len(partial["missing"])) == (False, 4)
    assert partial.keys() - _PROGRESS == {"tools"}
    for kept in (1, 0):
        again = racetrap("bench", "sigrace", "--json", "-")
        whole = json.loads(again.stdout)
        assert (again.exit_code, whole["complete"], whole["kept"]) == (0, True, kept)
        assert whole["sigrace"]["worst_scan"] == {"comparisons": 112, "cycles": 133}
