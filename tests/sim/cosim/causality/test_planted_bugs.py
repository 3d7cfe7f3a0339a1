"""Co-simulation finds every planted bug."""

import pytest

from racetrap.sim.cosim.causality.fast_compare import check_launch, transactions_of
from racetrap.sim.cosim.causality.fast_simulation import FastSim
from racetrap.sim.cosim.causality.random_events import random_events
from racetrap.sim.cosim.causality.styles import STYLES
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.sim.cosim.fast.simulation import SimulationError
from tests.support import REPOSITORY
from tests.support.causality.plans import REGION, TWO_BANKS
from tests.support.causality.planted_bugs import PLANTED_BUGS


def _play(patch):
    model = build_fast("causality-tiny", TWO_BANKS, patch)
    with FastSim(model, seed=5, timing=MemoryTiming(watchdog=5_000)) as sim:
        for number, style in enumerate(STYLES.values()):
            events = random_events(TWO_BANKS, REGION, style, number, 600)
            transactions = transactions_of(events, TWO_BANKS)
            if not number:
                sim.ignore(sim.queues(transactions))
            # In order, the hardware is idle again and again.
            check_launch(sim, TWO_BANKS, REGION, transactions, in_order=not number)


@pytest.mark.parametrize("bug", PLANTED_BUGS.values(), ids=PLANTED_BUGS)
def test_planted_bug_changes_the_rtl(bug):
    text = (REPOSITORY / "rtl" / bug.file).read_text(encoding="utf-8")
    assert bug.changed(text) != text


@pytest.mark.campaign
def test_nothing_is_found_in_the_rtl_as_it_is():
    _play(None)


@pytest.mark.campaign
@pytest.mark.parametrize("name", PLANTED_BUGS)
def test_planted_bug_is_found(name):
    with pytest.raises((Mismatch, SimulationError)):
        _play(PLANTED_BUGS[name])
