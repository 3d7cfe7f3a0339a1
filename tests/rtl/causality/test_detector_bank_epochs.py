"""Detector bank over so many wraps of clocks that numbers of epochs begin anew."""

import random

import pytest

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.detector_bank import DetectorBank
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.causality.bank_bench import CausalityBankBench, RandomItems
from tests.support.planted_bugs import modules_with
from tests.support.rtl.metadata_memory import MemoryKnobs
from tests.support.scord.bank_packets import a_region

_PARAMS = CausalityParams(
    sm_count=2, blocks_per_sm=2, warps_per_sm=2, hash_bits=4, known=1, outstanding=4, ratio=4,
    packet_fifo_depth=2, report_fifo_depth=4, address_bits=32, pc_bits=8, shared_bytes=64,
    epoch_bits=1,
)  # fmt: skip


def _run(seed, detector=DetectorBank):
    """Accesses of few words between four wraps; the golden steps."""
    region = a_region(_PARAMS, metadata_base=0x1240)
    made = RandomItems(_PARAMS, region, random.Random(seed), entries=2, others=0.1)
    items = made.make(20)
    for _ in range(4):
        items += [made.new_epoch(), *made.make(20)]
    of_detector = type("Bench", (CausalityBankBench,), {"detector": staticmethod(detector)})
    knobs = MemoryKnobs(read_latency=(0, 6), write_latency=(0, 6))
    return of_detector(_PARAMS, region, knobs=knobs, seed=seed).run(items)


def test_entries_of_an_epoch_long_ago_are_empty():
    assert len(_run("epochs")) > 60


_FILE = "causality/detector_bank.py"
_BUGS = {
    "entries-are-kept": Patch(_FILE, "self.i_clear | (self._begins & epoch.all())", "self.i_clear"),
    "entries-are-cleared-at-each-wrap": Patch(_FILE, "self._begins & epoch.all()", "self._begins"),
    "launch-clears-nothing": Patch(
        _FILE, "self.i_clear | (self._begins & epoch.all())", "self._begins & epoch.all()"
    ),
}


@pytest.mark.campaign
@pytest.mark.parametrize("bug", _BUGS)
def test_planted_bug_shows(bug):
    detector = modules_with([_FILE], _BUGS[bug])[_FILE].DetectorBank
    with pytest.raises((AssertionError, TimeoutError)):
        _run("epochs", detector)
