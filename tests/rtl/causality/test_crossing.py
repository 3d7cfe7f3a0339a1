"""Signals between SMs, the middle and banks, where tiles are cut: streams, and a launch."""

import pytest
from amaranth.hdl import Module
from amaranth.lib import stream

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.detector_bank import DetectorBank
from racetrap.rtl.causality.system import CausalitySystem
from racetrap.rtl.causality.tracker import Tracker
from tests.support import REPOSITORY

_PARAMS = CausalityParams(sm_count=2, banks=2, blocks_per_sm=1, warps_per_sm=2)
#: What is set while nothing is on its way, and what is only counted.
_WIRES = {
    Tracker: {
        "a constant": {"i_sm"},
        "launch": {"i_enable", "i_clear", "o_busy", "o_idle"},
    },
    DetectorBank: {
        "a constant": {"i_port"},
        "launch": {"i_region", "i_clear", "o_busy", "o_idle"},
        "counters": {"o_count"},
    },
}
_STREAMS = {
    Tracker: {"i_transaction", "o_packet", "o_marker", "i_resume"},
    DetectorBank: {"i_packet", "i_row", "o_report", "o_done"},
}
#: The SM, memory, and what a chip lacks.
_OWN = {"i_transaction", "m_axi", "trace"}
#: Streams of the page, each of an SM or of a bank.
_NAMED = ("packet", "marker", "resume", "bank_packet", "notice", "row", "done")


@pytest.mark.parametrize("component", _WIRES)
def test_streams_and_a_launch_alone_cross(component):
    members = dict(component(_PARAMS).signature.members)
    streams = {
        name for name, member in members.items()
        if member.is_signature and isinstance(member.signature, stream.Signature)
    }  # fmt: skip
    assert streams - _OWN == _STREAMS[component] - _OWN
    assert members.keys() - streams - _OWN == set().union(*_WIRES[component].values())


def test_the_system_cuts_each_of_them():
    """So that what a test puts there delays all."""

    class Cut(CausalitySystem):
        def _cross(self, m: Module, name, source, sink):
            crossing.append(name)
            super()._cross(m, name, source, sink)

    crossing: list[str] = []
    Cut(_PARAMS).elaborate(None)
    assert sorted(crossing) == sorted(f"{name}_{number}" for name in _NAMED for number in range(2))
    count = sum(len(streams - _OWN) for streams in _STREAMS.values())
    assert count == len(_NAMED)


def test_the_page_names_them():
    text = (REPOSITORY / "docs" / "causality.md").read_text(encoding="utf-8")
    table = text[text.index("| stream |") :]
    rows = [line.split(" | ")[0].strip("| ") for line in table.split("\n\n")[0].splitlines()[2:]]
    assert rows == [
        "packets", "markers", "resumes", "packets of a bank", "notices", "rows", "done"
    ]  # fmt: skip
    assert len(rows) == len(_NAMED)
