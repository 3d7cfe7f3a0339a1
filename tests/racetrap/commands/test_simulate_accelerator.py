"""The simulate command with traces of a CPU and its accelerators."""

import json

import pytest

from racetrap.golden_model.trace import NoncoherentTrace
from racetrap.golden_model.trace.noncoherent.operations import (
    MemorySystem,
    NoncoherentTraceHeader,
    Operation,
    OperationKind,
)
from racetrap.sim.cosim.noncoherent.fast_simulation import FastSim
from racetrap.verdict.accelerators.hardware import simulate_trace

K = OperationKind
_MEMORY = MemorySystem(line_bytes=8, granule_bytes=4, engines=2)
_WRITE = Operation(K.CACHED_WRITE, 0x40, 4, pc=0x100)
_FLUSH = Operation(K.CACHE_FLUSH, 0x40, 4, pc=0x104)
_READ = Operation(K.DMA_READ, 0x40, 4, engine=1, pc=0x108)


def _trace(*operations, memory=_MEMORY):
    header = NoncoherentTraceHeader(memory=memory, locations={0x100: "driver.c:7"})
    return NoncoherentTrace.from_events(header, list(operations))


@pytest.fixture
def simulated(racetrap, tmp_path, noncoherent_tiny):
    """Simulate a trace of some operations."""

    def run(*arguments, trace):
        trace.write_binary(tmp_path / "t")
        return racetrap("simulate", "noncoherent-tiny", str(tmp_path / "t"), *arguments)

    return run


@pytest.mark.campaign
def test_waves_are_written(simulated, tmp_path):
    waves = tmp_path / "w.vcd"
    result = simulated("--output", str(waves), trace=_trace(_WRITE, _READ, _FLUSH))
    assert result.exit_code == 1, result.output
    text = waves.read_text()
    assert text.startswith("$version")
    for name in (" operation ", " step ", " row_first "):
        assert name in text


def test_missing_flush(simulated, tmp_path):
    result = simulated("--json", str(tmp_path / "j"), trace=_trace(_WRITE, _READ, _READ))
    assert result.exit_code == 1, result.output
    document = json.loads((tmp_path / "j").read_text())
    first, second = document["races"]
    assert (first["rule"], first["definite"]) == ("5b", True)
    assert first["earlier"]["location"] == "driver.c:7"
    assert (first["later"]["operation"], second["later"]["operation"]) == (1, 2)
    assert document["rows"] == 3
    result = simulated(trace=_trace(_WRITE, _READ, _READ))
    assert "earlier: cached write at pc 0x100 (driver.c:7), operation 0" in result.output
    assert "the first of 2 like it" in result.output


def test_with_the_flush(simulated):
    result = simulated(trace=_trace(_WRITE, _FLUSH, _READ))
    assert result.exit_code == 0, result.output
    assert "hardware and golden model agree in all 3 rows" in result.output


def test_other_memory_system(simulated):
    result = simulated(trace=_trace(_READ, memory=MemorySystem(line_bytes=64, engines=2)))
    assert result.exit_code == 2
    assert "(--set line_bytes=64 --set granule_bytes=32)" in result.stderr


def test_addresses_beyond_the_hardware(simulated):
    result = simulated(trace=_trace(Operation(K.CACHED_READ, 0x1_0000, 4)))
    assert result.exit_code == 2
    assert "address_bits must be at least 17" in result.stderr


def test_tags_wrap(noncoherent_tiny):
    """More operations than tags, over several runs of the hardware."""
    quiet = [Operation(K.UNCACHED_READ, 0x80, 4)] * 70_000
    found = []
    result = simulate_trace(
        noncoherent_tiny, _trace(*quiet, _WRITE, *quiet[:5000], _READ), 1, found.append
    )
    assert [(race.earlier, race.later) for race in found] == [(70_000, 75_001)]
    assert result.rows == 75_002
    assert result.cycles < result.rows + 100 * 38


def test_disagreement(simulated, monkeypatch):
    real = FastSim.step_words
    monkeypatch.setattr(FastSim, "step_words", lambda self: real(self) ^ 1)
    result = simulated(trace=_trace(_WRITE, _READ))
    assert result.exit_code == 3
    assert "Step 0 must be" in result.stderr
