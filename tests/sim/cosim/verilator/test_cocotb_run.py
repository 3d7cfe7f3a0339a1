"""Runs of the simulator: a run without a test, a crash and a stall are failures."""

import textwrap
from dataclasses import replace

import pytest

from racetrap.generators.presets import find_preset
from racetrap.sim.cosim.verilator.cocotb_build import build
from racetrap.sim.cosim.verilator.cocotb_run import SimulationError, run
from tests.support.scord.plans import TWO_BANKS

_MODULE = """
    import os, time
    import cocotb
    from cocotb.triggers import Timer

    @cocotb.test()
    async def passes(dut):
        await Timer(1, "step")

    @cocotb.test()
    async def fails(dut):
        assert False, "on purpose"

    @cocotb.test()
    async def crashes(dut):
        os._exit(7)

    @cocotb.test()
    async def stalls(dut):
        time.sleep(100)
"""


@pytest.fixture
def play(tmp_path, monkeypatch):
    (tmp_path / "some_tests.py").write_text(textwrap.dedent(_MODULE))
    monkeypatch.syspath_prepend(str(tmp_path))
    model = build("scord-tiny", replace(find_preset("scord-tiny").params, **TWO_BANKS))

    def play(case, **options):
        return run(model, "some_tests", tmp_path / "run", {}, seed=1, case=case, **options)

    return play


def test_passing_and_failing_tests_are_told_apart(play):
    passed, failed = play("passes"), play("fails")
    assert [(case.name, case.failure) for case in passed.cases] == [("passes", None)]
    assert passed.failures == []
    assert "on purpose" in failed.failures[0].failure


def test_a_filter_that_matches_nothing_is_an_error(play):
    with pytest.raises(SimulationError, match="must run at least one test"):
        play("no_such_test")


def test_a_crash_is_an_error(play):
    with pytest.raises(SimulationError, match="status 7"):
        play("crashes")


def test_a_stall_is_an_error(play):
    with pytest.raises(SimulationError, match="no progress for 2 s"):
        play("stalls", stall_seconds=2)
