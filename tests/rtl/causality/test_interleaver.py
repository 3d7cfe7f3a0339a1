"""Interleaver: each bank gets its words and all else, in each SM's order, under back-pressure."""

import pytest

from racetrap.golden_model.causality.packets import PacketKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.campaign import later_but
from tests.support.causality.interleaver_bench import (
    InterleaverBench,
    a_packet,
    check_random,
)
from tests.support.planted_bugs import modules_with, one_for_each_file


def _params(**settings):
    return CausalityParams(**{"address_bits": 20, "pc_bits": 16, **settings})


@pytest.mark.parametrize(
    ("sms", "banks"),
    later_but({(1, 1), (3, 2), (4, 4)}.__contains__, [
        (sms, banks) for sms in (1, 3, 4, 5) for banks in (1, 2, 4)
    ]),
)  # fmt: skip
def test_random_packets(sms, banks):
    check_random(_params(sm_count=sms, banks=banks), f"{sms} {banks}")


def test_one_packet_a_cycle_and_a_mark_a_cycle():
    """All SMs offer accesses to two banks: both take one each cycle.  All offer markers: both take
    one each cycle, which is one in as many cycles as there are SMs for each of them."""
    params = _params(sm_count=4, banks=2)
    for kind in (PacketKind.LOAD, PacketKind.MARK):
        sent = [
            [a_packet(params, sm, number, kind, number + sm) for number in range(40)]
            for sm in range(4)
        ]
        bench = InterleaverBench(params, "", holds=False, slow=0)
        bench.run(sent)
        bench.check(sent)
        for left in bench.left:
            cycles = sum(20 <= cycle < 70 for cycle, _ in left)
            assert cycles == 50, (kind, cycles)


def test_latency_of_a_lone_packet_is_one_cycle():
    params = _params(sm_count=2, banks=2)
    sent = [[], [a_packet(params, 1, 0, PacketKind.MARK, 0)]]
    bench = InterleaverBench(params, "", holds=False, slow=0)
    bench.run(sent)
    (accepted,), *left = bench.accepted[1], *bench.left
    assert [[cycle for cycle, _ in of_bank] for of_bank in left] == [[accepted[0] + 1]] * 2


_FILE, _BASE = "causality/interleaver.py", "gpu/interleaver.py"
_BUGS = {
    "copy-of-the-first-bank-is-enough": Patch(
        _FILE, "(takes | ~goes).all()", "(takes & goes).any()"
    ),
    "branches-to-their-word": Patch(_FILE, "> PacketKind.ATOMIC", "== PacketKind.MARK"),
    "copies-are-repeated": Patch(_FILE, "is_there & ~has[bank]", "is_there"),
    "copies-of-the-packet-before": Patch(
        _FILE, "~port.ready.replicate(len(sinks))", "(1 << len(sinks)) - 1"
    ),
    "held-packets-are-taken": Patch(_FILE, "goes[bank] & ~self.i_hold", "goes[bank]"),
    "bank-of-another-bit": Patch(_BASE, "packet.word[:bits] == bank", "packet.word[1] == bank"),
    "taken-when-offered": Patch(_FILE, "sink.valid & sink.ready", "sink.valid"),
    "marks-are-taken": Patch(_FILE, "& (sink.payload.kind != PacketKind.MARK)", ""),
}  # fmt: skip


@pytest.mark.parametrize("bug", one_for_each_file({name: bug.file for name, bug in _BUGS.items()}))
def test_planted_bug_shows(bug):
    interleaver = modules_with([_BASE, _FILE], _BUGS[bug])[_FILE].Interleaver
    with pytest.raises((AssertionError, TimeoutError)):
        check_random(_params(sm_count=3, banks=2), "bugs", interleaver)
