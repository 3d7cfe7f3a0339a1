"""`racetrap bench`: its tables and JSON, with the measuring done by others."""

import json

import pytest

from racetrap.commands import bench as command
from racetrap.sim.evaluation.scord import kernel_rates
from racetrap.sim.evaluation.scord.kernel_rates import ApplicationRate
from racetrap.sim.fast.rates import Rate, Rates
from racetrap.sim.fast.scord import bench, speed
from racetrap.sim.fast.scord.bench import Bandwidth
from racetrap.sim.fast.scord.speed import Cocotb
from racetrap.sim.mismatch import Mismatch


def _rates(compiled):
    golden = 3000.0 if compiled else 1000.0
    return Rates(
        compiled, Rate(golden, 900.0, 3100.0), Rate(2000.0, 1999.0, 2001.0), Rate(400, 390, 410)
    )  # fmt: skip


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


def test_tables(racetrap, figures, tmp_path):
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
    ):
        assert text in result.output
    assert "Measured with python" in result.output
    data = json.loads(file.read_text())
    assert data["banks"]["ratio"] == 3.9
    assert len(data["bandwidth"]) == len(bench.OUTSTANDING) * len(bench.LATENCIES)
    assert data["tools"]["verilator"]
    assert data["speed"]["plain"]["together"]["median"] == 400
    assert data["speed"]["compiled"] is None
    assert "golden, compiled" not in result.output


def test_compiled_golden_model(racetrap, figures, tmp_path):
    result = racetrap("bench", "--compiled", "--json", tmp_path / "bench.json")
    assert result.exit_code == 0
    assert "golden, compiled" in result.output
    data = json.loads((tmp_path / "bench.json").read_text())
    assert data["speed"]["compiled"]["golden"]["median"] == 3000


def test_without_mypyc(racetrap, figures, monkeypatch):
    monkeypatch.setattr(speed, "rates_in_child", lambda compiled: _rates(False))
    result = racetrap("bench", "--compiled")
    assert result.exit_code == 0
    assert "golden, compiled" not in result.output


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
