"""Schedules and simulated memory."""

import pytest

from racetrap.golden_model.events import EventKind
from racetrap.sim.gpu.suites.micro.program import (
    BLOCK,
    DEVICE,
    Actor,
    MicroProgram,
    add,
    cas,
    exch,
    fence,
    load,
    spin,
    store,
    weak_store,
)
from racetrap.sim.gpu.suites.micro.scheduler import (
    FIXED_SCHEDULES,
    BlockPlacement,
    in_order,
    random_schedule,
    reverse,
    round_robin,
    run_program,
)


def program(*actors):
    return MicroProgram(
        "test", 1, len(actors), tuple(Actor(0, warp, steps) for warp, steps in enumerate(actors))
    )


def warps(events):
    kinds = (EventKind.LOAD, EventKind.STORE, EventKind.ATOMIC)
    return [event.warp for event in events if event.kind in kinds]


TWO = program((load("data"), load("data")), (load("data"), load("data")))


@pytest.mark.parametrize(
    ("schedule", "order"),
    [(in_order, [0, 0, 1, 1]), (reverse, [1, 1, 0, 0]), (round_robin, [0, 1, 0, 1])],
)
def test_fixed_schedules(schedule, order):
    assert warps(run_program(TWO, schedule, BlockPlacement.SAME_SM)) == order


def test_random_schedules_repeat_by_seed_and_differ():
    orders = {
        seed: tuple(warps(run_program(TWO, random_schedule(seed), BlockPlacement.SAME_SM)))
        for seed in range(60)
    }
    assert len(set(orders.values())) == 6
    for seed, order in orders.items():
        assert (
            tuple(warps(run_program(TWO, random_schedule(seed), BlockPlacement.SAME_SM))) == order
        )


@pytest.mark.parametrize("schedule", FIXED_SCHEDULES.values(), ids=FIXED_SCHEDULES)
def test_spinning_actors_let_others_get_on(schedule):
    waiting = (spin(add("flag", 0, DEVICE), until=lambda old: old == 1), load("data"))
    raising = (store("data", 1), exch("flag", 1, DEVICE))
    for actors in ((waiting, raising), (raising, waiting)):
        events = run_program(program(*actors), schedule, BlockPlacement.SAME_SM)
        assert [event.kind for event in events].count(EventKind.LOAD) == 1


def test_spinning_for_ever_is_an_error():
    waiting = (spin(add("flag", 0, DEVICE), until=lambda old: old == 1),)
    with pytest.raises(RuntimeError, match=r"Program test must end, .* deadlock"):
        run_program(program(waiting), in_order, BlockPlacement.SAME_SM)


def test_cas_succeeds_only_on_the_value_expected():
    steps = (
        cas("lock", 0, 1, DEVICE), cas("lock", 0, 1, DEVICE), exch("lock", 0, DEVICE),
        cas("lock", 0, 1, DEVICE), add("lock", 4, DEVICE), cas("lock", 5, 1, DEVICE),
    )  # fmt: skip
    events = run_program(program(steps), in_order, BlockPlacement.SAME_SM)
    lanes = [event.lanes[0] for event in events if event.lanes]
    assert [lane.success for lane in lanes] == [True, False, False, True, False, True]


def test_events_tell_values_scopes_and_lanes():
    steps = (store("data", 3), weak_store("data", 4), load("data"), fence(DEVICE))
    events = run_program(program(steps), in_order, BlockPlacement.SAME_SM)[2:-2]
    told = [(e.strong, e.scope, e.mask, [lane.value for lane in e.lanes]) for e in events]
    assert told == [
        (True, DEVICE, 0, [3]), (False, BLOCK, 0, [4]), (True, DEVICE, 0, [0]),
        (False, DEVICE, 1, []),
    ]  # fmt: skip


def test_placements():
    grid = MicroProgram("grid", 2, 2, (Actor(1, 1, (load("data"),)),))
    places = []
    for placement in BlockPlacement:
        (event,) = [e for e in run_program(grid, in_order, placement) if e.kind == EventKind.LOAD]
        places.append((event.sm, event.slot, event.warp))
    assert places == [(0, 1, 3), (1, 0, 1)]
