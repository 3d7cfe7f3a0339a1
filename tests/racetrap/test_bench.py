"""`racetrap bench`: its tables and JSON, with the measuring done by others."""

import json

import pytest

from racetrap.commands import bench as command
from racetrap.sim.fast import bench
from racetrap.sim.fast.bench import Bandwidth, Speed
from racetrap.sim.scoreboard import Mismatch


@pytest.fixture
def figures(monkeypatch):
    monkeypatch.setattr(bench, "streaming", lambda: 0.99)
    monkeypatch.setattr(bench, "back_to_back", lambda: 0.98)
    monkeypatch.setattr(bench, "banks", lambda preset: {"scord": 1.0, "scord-banks4": 3.9}[preset])
    monkeypatch.setattr(bench, "bandwidth", lambda slots, latency: Bandwidth(slots, latency, 0.5))
    monkeypatch.setattr(bench, "speed", lambda: Speed(1000.0, 2000.0, 400.0))


def test_tables(racetrap, figures, tmp_path):
    file = tmp_path / "bench.json"
    result = racetrap("bench", "--json", file)
    assert result.exit_code == 0
    for text in ("one entry only", "0.98", "3.9", "latency 100", "50.0", "together", "0.4"):
        assert text in result.output
    assert "Measured with python" in result.output
    data = json.loads(file.read_text())
    assert data["banks"]["ratio"] == 3.9
    assert len(data["bandwidth"]) == len(bench.OUTSTANDING) * len(bench.LATENCIES)
    assert data["tools"]["verilator"]


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
