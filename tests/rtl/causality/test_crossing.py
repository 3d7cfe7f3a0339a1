"""What crosses between SMs, the middle and banks: where tiles are cut."""

import pytest
from amaranth.lib import stream

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.detector_bank import DetectorBank
from racetrap.rtl.causality.mark_keeper import MarkKeeper
from racetrap.rtl.causality.tracker import Tracker
from tests.support import REPOSITORY

_PARAMS = CausalityParams(sm_count=2, banks=2, blocks_per_sm=1, warps_per_sm=2)
#: Wires, each for what the page says of it.
_WIRES = {
    Tracker: {
        "a constant": {"i_sm"},
        "launch": {"i_enable", "i_clear", "o_busy", "o_idle"},
        "a wrap": {"o_full", "i_full", "o_wrap", "i_hold", "o_drained", "i_epoch", "o_busy"},
    },
    DetectorBank: {
        "a constant": {"i_port"},
        "launch": {"i_region", "i_clear", "o_busy", "o_idle"},
        "a wrap": {"i_epoch", "o_busy", "o_idle"},
        "the first `fence.sc`": {"i_fenced"},
        "packets that are done": {"o_leaves", "o_noticed"},
        "counters": {"o_count"},
    },
}
_STREAMS = {
    Tracker: {"i_transaction", "o_packet", "o_marker", "i_resume"},
    DetectorBank: {"i_packet", "i_row", "o_report"},
}
#: Memory, and what a chip lacks.
_OWN = {"m_axi", "trace"}


@pytest.mark.parametrize("component", _WIRES)
def test_packets_and_named_wires_alone_cross(component):
    members = dict(component(_PARAMS).signature.members)
    streams = {
        name for name, member in members.items()
        if member.is_signature and isinstance(member.signature, stream.Signature)
    }  # fmt: skip
    assert streams - _OWN == _STREAMS[component]
    assert members.keys() - streams - _OWN == set().union(*_WIRES[component].values())


def test_a_mark_keeper_is_on_its_banks_side():
    """It adds nothing that crosses but its being idle."""
    members = set(MarkKeeper(_PARAMS).signature.members)
    of_bank = {"o_packet", "i_notice", "i_leaves", "i_noticed"}
    assert members - of_bank == {"i_packet", "o_notice", "o_idle"}


def test_the_page_names_the_wires():
    text = (REPOSITORY / "docs" / "causality.md").read_text(encoding="utf-8")
    uses = {use for wires in _WIRES.values() for use in wires} - {"a constant", "counters"}
    assert [use for use in uses if f"| {use} |" not in text] == []
