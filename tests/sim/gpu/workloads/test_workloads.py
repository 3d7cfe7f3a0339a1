"""The applications on the executor: right results, and races where a switch puts them."""

import pytest

from racetrap.sim.gpu.executor.machine.warp_schedulers import WARP_SCHEDULERS
from racetrap.sim.gpu.workloads.registry import WORKLOADS
from tests.support.campaign import later_but, one_in

ATOMIC = {"scoped-atomic"}
LOCK = {"missing-lock"}
ATOMIC_LOCK = ATOMIC | LOCK
BLOCK_FENCE = {"missing-block-fence"}
DEVICE_FENCE = {"missing-device-fence"}

#: Kinds of race that each switch shows at 4 bytes without metadata caching.
EXPECTED = {
    ("MM", "no-acquire-fence"): LOCK,
    ("MM", "no-release-fence"): BLOCK_FENCE,
    ("MM", "block-scope-lock"): ATOMIC_LOCK,
    ("MM", "block-scope-fence"): LOCK,
    ("RED", "no-flag-fence"): BLOCK_FENCE,
    ("RED", "block-scope-fence"): DEVICE_FENCE,
    ("R110", "block-scope-fence"): DEVICE_FENCE,
    ("R110", "block-scope-wait"): ATOMIC,
    ("GCOL", "assign-block-scope-take"): ATOMIC,
    ("GCOL", "assign-no-barrier"): BLOCK_FENCE,
    ("GCOL", "detect-block-scope-take"): ATOMIC,
    ("GCOL", "detect-no-barrier"): BLOCK_FENCE,
    ("GCOL", "forbid-block-scope-take"): ATOMIC,
    ("GCOL", "forbid-no-barrier"): BLOCK_FENCE,
    ("GCON", "init-no-barrier"): BLOCK_FENCE,
    ("GCON", "link-no-barrier"): BLOCK_FENCE,
    ("GCON", "link-block-scope-steal"): ATOMIC,
    ("GCON", "compress-no-barrier"): BLOCK_FENCE,
    ("GCON", "compress-block-scope-steal"): ATOMIC,
    ("1DC", "block-scope-border"): ATOMIC,
    ("UTS", "block-scope-push-lock"): ATOMIC_LOCK,
    ("UTS", "block-scope-push-add"): ATOMIC,
    ("UTS", "block-scope-push-unlock"): ATOMIC,
    ("UTS", "block-scope-pop-lock"): ATOMIC_LOCK,
    ("UTS", "block-scope-pop-clear"): ATOMIC,
    ("UTS", "block-scope-pop-unlock"): ATOMIC,
}
SWITCHES = [(name, switch.name) for name, w in WORKLOADS.items() for switch in w.switches]


@pytest.mark.parametrize("scheduler", later_but("random".__eq__, WARP_SCHEDULERS))
@pytest.mark.parametrize("workload", WORKLOADS)
def test_race_free_build_is_right_and_nothing_is_reported(workload, scheduler, kinds_of_races):
    assert kinds_of_races(workload, "tiny", scheduler, seed=11) == set()


@pytest.mark.parametrize("workload", one_in(3, WORKLOADS))
def test_larger_input_gives_the_right_result(workload, new_device):
    WORKLOADS[workload].run(new_device("random", 3), "small", seed=12)


def test_every_switch_is_expected_to_show_something():
    assert sorted(EXPECTED) == sorted(SWITCHES)


@pytest.mark.parametrize(("workload", "switch"), one_in(3, SWITCHES))
def test_each_switch_makes_its_races(workload, switch, kinds_of_races):
    """In one of a few schedules: some races need one party to be ahead of the other."""
    for seed in range(1, 6):
        kinds = kinds_of_races(workload, "tiny", "random", seed, {switch})
        if kinds:
            break
    assert kinds == EXPECTED[workload, switch], f"seed {seed}"


@pytest.mark.parametrize("workload", [name for name, w in WORKLOADS.items() if len(w.switches) > 1])
def test_all_switches_together_end_and_show_every_kind(workload, kinds_of_races):
    switches = {switch.name for switch in WORKLOADS[workload].switches}
    expected = set().union(*(EXPECTED[workload, switch] for switch in switches))
    assert expected - kinds_of_races(workload, "tiny", "random", 3, switches) <= ATOMIC


@pytest.mark.parametrize("workload", [name for name in WORKLOADS if name != "RED"])
def test_results_are_right_with_independent_threads(workload, new_device):
    """All but the reduction, whose last level relies on the lanes of a warp running together."""
    device = new_device("random", 4, independent_threads=True)
    WORKLOADS[workload].run(device, "tiny", seed=13)
