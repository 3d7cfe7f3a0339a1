"""`racetrap bench`: its tables and JSON, with the measuring done by others."""

import json

import pytest

from racetrap.commands import bench as command
from racetrap.evaluation.throughput import (
    detector_rates,
    kernel_rates,
    recorder_rates,
    sigrace_speed,
)
from racetrap.evaluation.throughput import scord_cycles as bench
from racetrap.evaluation.throughput import scord_speed as speed
from racetrap.evaluation.throughput import sigrace_cycles as sigrace_bench
from racetrap.evaluation.throughput.detector_rates import DetectorRate
from racetrap.evaluation.throughput.kernel_rates import ApplicationRate
from racetrap.evaluation.throughput.rates import Cocotb, Rate, Rates
from racetrap.evaluation.throughput.recorder_rates import RecorderRates
from racetrap.evaluation.throughput.scord_cycles import Bandwidth
from racetrap.evaluation.throughput.sigrace_cycles import Scan, Sustained
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cpu.errors import RecordError


def _rates(compiled):
    golden = 3000.0 if compiled else 1000.0
    return Rates(
        compiled, Rate(golden, 900.0, 3100.0), Rate(2000.0, 1999.0, 2001.0), Rate(400, 390, 410)
    )  # fmt: skip


def _faster(compiled):
    return Rates(compiled, Rate(5e5, 4e5, 6e5), Rate(3e5, 2e5, 4e5), Rate(71e3, 7e4, 72e3))


@pytest.fixture
def figures(monkeypatch):
    monkeypatch.setattr(bench, "streaming", lambda: 0.99)
    monkeypatch.setattr(bench, "back_to_back", lambda: 0.98)
    monkeypatch.setattr(bench, "banks", lambda preset: {"scord": 1.0, "scord-banks4": 3.9}[preset])
    monkeypatch.setattr(bench, "bandwidth", lambda slots, latency: Bandwidth(slots, latency, 0.5))
    monkeypatch.setattr(speed, "rates_in_child", _rates)
    monkeypatch.setattr(kernel_rates, "executor_rates", lambda: {64: 7e6})
    rate = ApplicationRate("MM", 1190, 30228, 5e4, 6e4, 8e4)
    monkeypatch.setattr(kernel_rates, "application_rates", lambda: iter([rate]))
    monkeypatch.setattr(speed, "cocotb", lambda tests: Cocotb(50.0, 1500.0))


@pytest.fixture
def sigrace_figures(monkeypatch):
    monkeypatch.setattr(sigrace_bench, "worst_scan", lambda: Scan(112, 133))
    monkeypatch.setattr(
        sigrace_bench, "sustained", lambda block: Sustained(block, 192, 111.5, 250.25, 7, 9)
    )
    monkeypatch.setattr(sigrace_speed, "rates_in_child", _faster)
    monkeypatch.setattr(sigrace_speed, "cocotb", lambda tests: Cocotb(4000.0, 100_000.0))
    recorder = RecorderRates(1234567, Rate(6e7, 5e7, 7e7), Rate(4e6, 3e6, 5e6))
    monkeypatch.setattr(recorder_rates, "recorder_rates", lambda: recorder)
    rate = DetectorRate("fft", 742130, 2.5e6, 240_000.0)
    monkeypatch.setattr(detector_rates, "detector_rates", lambda size: iter([rate]))


def test_tables(racetrap, figures, sigrace_figures, tmp_path):
    file = tmp_path / "bench.json"
    result = racetrap("bench", "--json", file)
    assert result.exit_code == 0
    for text in (
        "one entry only",
        "0.98",
        "3.9",
        "latency 100",
        "50.0",
        "golden, plain Python",
        "1000",
        "1999",
        "30.0",
        "7000000",
        "30228",
        "133",
        "111.5",
        "250.2",
        "71000",
        "25.0",
        "60000000",
        "1234567 events",
        "742130",
        "2500000",
    ):
        assert text in result.output
    assert "Measured with python" in result.output
    data = json.loads(file.read_text())
    assert data["tools"]["verilator"]
    scord = data["scord"]
    assert scord["banks"]["ratio"] == 3.9
    assert len(scord["bandwidth"]) == len(bench.OUTSTANDING) * len(bench.LATENCIES)
    assert scord["speed"]["plain"]["together"]["median"] == 400
    assert scord["speed"]["compiled"] is None
    sigrace = data["sigrace"]
    assert sigrace["worst_scan"] == {"comparisons": 112, "cycles": 133}
    assert sigrace["sustained"][0]["block_instructions"] == 2000
    assert sigrace["speed"]["same_trace"]["cocotb"] == 4000
    assert sigrace["recorder"]["recorded"]["low"] == 5e7
    assert "golden, compiled" not in result.output


def test_one_system(racetrap, sigrace_figures):
    result = racetrap("bench", "--system", "sigrace", "--json", "-")
    assert result.exit_code == 0
    assert json.loads(result.stdout).keys() == {"sigrace", "tools"}
    assert "Throughput, scord" not in result.stderr


def test_compiled_golden_model(racetrap, figures, sigrace_figures, tmp_path):
    result = racetrap("bench", "--compiled", "--json", tmp_path / "bench.json")
    assert result.exit_code == 0
    assert result.output.count("golden, compiled") == 2
    data = json.loads((tmp_path / "bench.json").read_text())
    assert data["scord"]["speed"]["compiled"]["golden"]["median"] == 3000
    assert data["sigrace"]["speed"]["compiled"]["golden"]["median"] == 5e5


def test_without_mypyc(racetrap, figures, monkeypatch):
    monkeypatch.setattr(speed, "rates_in_child", lambda compiled: _rates(False))
    result = racetrap("bench", "--system", "scord", "--compiled")
    assert result.exit_code == 0
    assert "golden, compiled" not in result.output


def test_program_that_cannot_be_recorded(racetrap, sigrace_figures, monkeypatch):
    def fail():
        raise RecordError("Command gcc was not found")

    monkeypatch.setattr(recorder_rates, "recorder_rates", fail)
    result = racetrap("bench", "--system", "sigrace")
    assert result.exit_code == 3
    assert result.stderr == "racetrap: Command gcc was not found.\n"


def test_difference_from_the_golden_model(racetrap, figures, monkeypatch):
    def differ():
        raise Mismatch("Bank 0, step 3: something")

    monkeypatch.setattr(bench, "streaming", differ)
    result = racetrap("bench")
    assert result.exit_code == 3
    assert result.stderr == "racetrap: Bank 0, step 3: something.\n"


def test_missing_tool(racetrap, monkeypatch):
    monkeypatch.setattr(command, "missing_tools", lambda: ["Command `make` was not found: get it."])
    result = racetrap("bench")
    assert result.exit_code == 3
    assert "Command `make` was not found" in result.stderr
