"""Speed of simulation: measured on what agrees, with the golden model that was asked for."""

import pytest

from racetrap.evaluation.throughput import speed
from racetrap.evaluation.throughput.rates import Rate
from racetrap.sim.cosim.verilator.build_cache import BuildError

# One process builds each system once; the others find it in the cache.
pytestmark = pytest.mark.xdist_group("bench")

_SIZES = {"scord": 300, "sigrace": 2000}


@pytest.mark.parametrize("system", ["scord", pytest.param("sigrace", marks=pytest.mark.campaign)])
def test_rates(system):
    measured = speed.rates(system, size=_SIZES[system], runs=2)
    assert not measured.compiled
    for rate in (measured.golden, measured.hardware, measured.together):
        assert 0 < rate.low <= rate.median <= rate.high


@pytest.mark.parametrize("system", _SIZES)
@pytest.mark.parametrize("compiled", [False, True])
def test_child_runs_the_model_asked_for(monkeypatch, system, compiled):
    seen = []

    class Done:
        returncode, stderr = 0, ""
        stdout = (
            '{"compiled": false, "golden": {"median": 2, "low": 1, "high": 3}, '
            '"hardware": {"median": 2, "low": 1, "high": 3}, '
            '"together": {"median": 2, "low": 1, "high": 3}}'
        )

    monkeypatch.setattr(speed.subprocess, "run", lambda *command, **_: seen.extend(command) or Done)
    assert speed.rates_in_child(system, compiled).golden == Rate(2, 1, 3)
    assert ("racetrap.sim.cosim.verilator.compiled" in seen[0]) == compiled
    assert seen[0][-1] == system


def test_child_prints_its_rates(monkeypatch, capsys):
    measured = speed.Rates(False, *[Rate(2.0, 1.0, 3.0)] * 3)
    monkeypatch.setattr(speed, "rates", lambda system: measured)
    speed.main(["scord"])
    printed = capsys.readouterr().out
    monkeypatch.setattr(
        speed.subprocess,
        "run",
        lambda *_, **__: speed.subprocess.CompletedProcess([], 0, printed, ""),
    )
    assert speed.rates_in_child("scord", compiled=False) == measured


def test_failed_child(monkeypatch):
    monkeypatch.setattr(speed.sys, "executable", "/bin/false")
    with pytest.raises(BuildError, match=r"Measurement \S+speed scord failed"):
        speed.rates_in_child("scord", compiled=False)


@pytest.mark.campaign
@pytest.mark.parametrize(("system", "size"), [("scord", 30), ("sigrace", 300)])
def test_same_trace_by_cocotb(system, size):
    # Small presets, which other tests have built too.
    measured = speed.same_trace(system, f"{system}-tiny", size)
    assert measured.fast > 0
    assert measured.cocotb > 0
