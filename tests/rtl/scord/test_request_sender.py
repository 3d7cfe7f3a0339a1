"""Requests and responses between SMs and slices: order, completion and idleness under any delay."""

from dataclasses import replace
from itertools import product

import pytest

from racetrap.generators.scord import SCORD
from racetrap.rtl.scord.request_receiver import RequestReceiver
from racetrap.rtl.scord.request_sender import RequestSender
from tests.support.campaign import later_but
from tests.support.planted_bugs import module_with, one_for_each_file
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.scord.request_bench import RequestBench

_TINY = SCORD.presets["scord-tiny"].params
_SMALL = replace(_TINY, banks=2)
_SIZES = {
    "small": _SMALL,
    "one slice": replace(_TINY, sm_count=3),
    "four by four": replace(_TINY, sm_count=4, banks=4),
    "lanes": replace(_TINY, sm_count=4, banks=4, words_per_cycle=2, fence_lanes=2),
}


@pytest.mark.parametrize(
    ("size", "longest"),
    later_but(
        {("small", 60), ("lanes", 5)}.__contains__, product(_SIZES, (0, 5, 60, 300))
    ),
)  # fmt: skip
def test_order_and_completion(size, longest):
    bench = RequestBench(_SIZES[size], seed=7, longest=longest, count=25)
    bench.run()
    assert bench.fences > 10


@pytest.mark.campaign
@pytest.mark.parametrize("component", [RequestSender, RequestReceiver])
def test_no_ready_depends_on_a_valid(component):
    assert not valid_to_ready_paths(component(_SIZES["lanes"]))


@pytest.mark.parametrize("seed", later_but((0).__eq__, range(3)))
def test_a_network_that_swaps_packets_of_a_pair_is_found(seed):
    with pytest.raises((AssertionError, TimeoutError)):
        RequestBench(_SMALL, seed, longest=60, swaps=True).run()


_SENDER, _RECEIVER = "scord/request_sender.py", "scord/request_receiver.py"
_BUGS = {
    "fence misses the last slice": (
        _SENDER, "destination == params.metadata_ports - 1", "destination == 0"
    ),
    "fence ends with the first answer": (_SENDER, "takes & (count == last)", "takes"),
    "answer counts twice": (
        _SENDER, "Mux(count == last, 0, count + 1)", "Mux(count == last, 0, count + 2)"
    ),
    "answers of all warps in one": (
        _SENDER, "count.eq(counts[response.payload.warp])", "count.eq(counts[0])"
    ),
    "copies take the warp of a mark": (
        _SENDER, "copies.payload.is_mark.eq(is_marking)", "copies.payload.is_mark.eq(0)"
    ),
    "mark ends with the first answer": (
        _SENDER, "answers == self._params.metadata_ports - 1", "answers == 0"
    ),
    "packets behind a mark are forgotten": (
        _SENDER, "is_complete.eq(~is_stale)", "is_complete.eq(1)"
    ),
    "packets do not need a mark": (_SENDER, "[is_complete.eq(0), is_stale.eq(1)]", "[]"),
    "mark without the number of its SM": (
        _SENDER, "segment.block.eq(self.i_sm << params.slot_bits)", "segment.block.eq(0)"
    ),
    "fence to the slice of its word": (
        _SENDER, "copies.payload.destination.eq(destination)", "copies.payload.destination.eq(0)"
    ),
    "answer before the banks have the fence": (
        _RECEIVER, "response.i.valid.eq(self.o_packet.ready)", "response.i.valid.eq(1)"
    ),
    "fence passes while no answer can leave": (
        _RECEIVER, "may_go.eq(~is_fence | response.i.ready)", "may_go.eq(1)"
    ),
    "answer without its warp": (_RECEIVER, "response.i.payload.warp.eq(packet.warp)",
                                "response.i.payload.warp.eq(0)"),
    "answer to another SM": (
        _RECEIVER, "response.i.payload.destination.eq(sm)", "response.i.payload.destination.eq(0)"
    ),
    "mark is answered at once": (
        _RECEIVER, "self.i_idle & marked.bit_select(turn, 1)", "marked.bit_select(turn, 1)"
    ),
    "mark is answered for ever": (_RECEIVER, "marked.eq((marked & ~gone) | came)",
                                  "marked.eq(marked | came)"),
    "mark goes to the banks": (
        _RECEIVER, "request.valid & ~is_mark & may_go", "request.valid & may_go"
    ),
    "fence in the lane of another": (
        _RECEIVER, "bundle.present.eq(1 << lane)", "bundle.present.eq(1)"
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    "name", one_for_each_file({name: file for name, (file, *_) in _BUGS.items()})
)
def test_planted_bug_is_found(name):
    file, *bug = _BUGS[name]
    module = module_with(file, tuple(bug))
    parts = {
        "sender": getattr(module, "RequestSender", RequestSender),
        "receiver": getattr(module, "RequestReceiver", RequestReceiver),
    }
    size = "lanes" if "lane" in name else "small"
    with pytest.raises((AssertionError, TimeoutError)) as caught:
        RequestBench(_SIZES[size], seed=7, longest=60, count=25, **parts).run()
    print(f"{name}: {caught.value}")
