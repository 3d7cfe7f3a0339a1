"""The whole detector: launches, accounting, banks."""

import pytest

from racetrap.golden_model.events import Event, EventKind, Lane
from racetrap.golden_model.gpu.region import Region, bank_of
from racetrap.golden_model.scord.packets import TableRow
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.scord import Scord
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events

REGION = Region(data_base=0x8000, size_log2=13)


def store(sm, pc=0x40, address=0x8000):
    lanes = (Lane(0, address),)
    return Event(EventKind.STORE, sm, strong=True, pc=pc, size=4, lanes=lanes)


def test_races_are_unique_by_pc_and_kind():
    scord = Scord(ScordParams(), REGION)
    for sm in range(4):
        scord.run(store(sm))
    scord.run(store(0, pc=0x48))
    assert len(scord.races) == 4
    assert [race.sequence for race in scord.races] == [0, 1, 2, 3]
    assert list(scord.unique) == [(0x40, 2), (0x48, 2)]
    assert scord.unique[0x40, 2] is scord.races[0]


@pytest.mark.parametrize("launch", [Scord.launch, lambda s: s.run(Event(EventKind.KERNEL_BEGIN))])
def test_launch_forgets_accesses_but_not_races(launch):
    scord = Scord(ScordParams(), REGION)
    scord.run(store(0))
    scord.run(store(1))
    launch(scord)
    (step,) = scord.run(store(2))
    assert step.row == TableRow.STORE_FIRST
    assert len(scord.races) == 1
    assert scord.counters["accesses"] == 3


def test_fence_reaches_every_bank():
    scord = Scord(ScordParams(banks=4), REGION)
    steps = scord.run(Event(EventKind.FENCE, sm=1, warp=2))
    assert [step.row for step in steps] == [TableRow.FENCE] * 4
    assert scord.counters["fences"] == 4


@pytest.mark.parametrize("granularity", [4, 8, 16])
@pytest.mark.parametrize("banks", [1, 4, 16])
def test_bank_is_entry_index_modulo_banks(granularity, banks):
    params = ScordParams(granularity=granularity, banks=banks)
    for address in range(REGION.data_base, REGION.data_base + 1024, 4):
        index, _ = REGION.locate(params, address)
        assert bank_of(params, address // 4) == index % banks


@pytest.mark.parametrize("banks", [2, 8])
@pytest.mark.parametrize("granularity", [4, 16])
def test_banks_change_nothing(banks, granularity):
    """As many banks as you like find what one bank finds."""
    found = []
    for count in (1, banks):
        params = ScordParams(banks=count, granularity=granularity)
        scord = Scord(params, REGION)
        steps = []
        for event in random_events(params, REGION, KNOBS["mixed"], 7, 500):
            steps += [step for step in scord.run(event) if step.row != TableRow.FENCE]
        entries = {}
        for bank in scord.banks:
            entries |= bank.entries
        found.append((steps, entries))
    assert len(found[0][0]) > 500
    assert found[0] == found[1]
