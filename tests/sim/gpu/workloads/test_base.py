"""Switches, sizes and checked results of a workload."""

from collections import Counter

import numpy as np
import pytest

from racetrap.golden_model.events import Geometry
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.workloads.base import (
    ResultError,
    Switch,
    Workload,
    WorkloadResult,
    check_resident,
)
from racetrap.sim.gpu.workloads.registry import WORKLOADS
from tests.support import REPOSITORY

PAGE = REPOSITORY / "docs" / "workloads.md"


def make(found, masks):
    """Workload of two switches that notes its masks and gives a result fixed beforehand."""

    def play(device, parameters, random, switches):
        masks.append((device, parameters, random.integers(1 << 30), switches))
        return WorkloadResult(np.array(found), np.array([1, 2, 3]))

    switches = Switch("one", "breaks one thing"), Switch("two", "breaks another")
    return Workload("W", "Test", switches, {"tiny": 10, "small": 20}, play)


def test_right_result_passes_and_the_seed_decides_the_input():
    masks = []
    workload = make([1, 2, 3], masks)
    for seed in (5, 5, 6):
        workload.run("device", "small", seed)
    assert workload.sizes == ("tiny", "small")
    assert masks[0] == masks[1] != masks[2]
    assert masks[0][:2] == ("device", 20)


def test_switches_are_bits_in_their_order():
    masks = []
    for switches in ([], ["one"], ["two"], ["two", "one", "two"]):
        make([1, 2, 3], masks).run(None, "tiny", 1, switches)
    assert [mask for *_, mask in masks] == [0, 1, 2, 3]


def test_wrong_result_is_an_error_only_without_switches():
    workload = make([1, 0, 0], [])
    with pytest.raises(ResultError, match=r"^Result of W must be NumPy's, .* in 2 of 3 elements"):
        workload.run(None, "tiny", 1)
    workload.run(None, "tiny", 1, {"one"})


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match=r"^Unknown size of .* 'huge': choose tiny or small$"):
        make([], []).run(None, "huge", 1)
    with pytest.raises(ValueError, match=r"^Unknown switch of .* 'three': choose one or two$"):
        make([], []).run(None, "tiny", 1, {"three"})


def test_races_are_those_of_table_vi():
    races = {name: sum(s.races for s in w.switches) for name, w in WORKLOADS.items()}
    assert races == {"MM": 4, "RED": 2, "R110": 2, "GCOL": 6, "GCON": 5, "1DC": 1, "UTS": 6}
    assert list(races) == list(WORKLOADS)
    for workload in WORKLOADS.values():
        assert workload.sizes == ("tiny", "small", "paper")
        assert max(Counter(switch.name for switch in workload.switches).values()) == 1


def test_page_describes_every_switch():
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    for workload in WORKLOADS.values():
        assert f"### {workload.name}: {workload.title}" in lines
        for switch in workload.switches:
            assert f"| `{switch.name}` | {switch.description} |" in lines


def test_blocks_that_wait_for_each_other_must_be_resident():
    device = Device(Geometry(sm_count=2, blocks_per_sm=3, warps_per_sm=5))
    check_resident(device, 4, 64)
    with pytest.raises(ValueError, match=r"^GPU must hold 5 blocks of 64 threads at once, not 4$"):
        check_resident(device, 5, 64)
    with pytest.raises(ValueError, match=r"^GPU must hold 7 blocks of 20 threads at once, not 6$"):
        check_resident(device, 7, 20)
    for name in ("R110", "UTS"):
        with pytest.raises(
            ValueError, match=r"^GPU must hold \d+ blocks of \d+ threads at once, not \d+$"
        ):
            WORKLOADS[name].run(device, "small", 1)
