"""Proof: fields hold what software has written."""

import pytest

from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.proof import proof_tests
from tests.support.rtl.register_proof import FILE, holds_for_scord, register_proof

PROOF = register_proof(
    "writes",
    rule="A field that software writes has the bytes with strobes of the last write to its "
    "register, from the cycle after that write on, and its other bytes as before. A one-"
    "shot bit is high for one cycle. A port passes each write on once. A lock that is set stays. "
    "Nothing else changes them, and no access that is refused does.",
    events=("part-of-a-word", "no-strobe", "written", "pulse"),
    bugs={
        "strobes-ignored": Patch(
            FILE, "m.d.sync += value.eq((value & ~mask) | (data & mask))",
            "m.d.sync += value.eq(data)",
        ),
        "pulse-stays": Patch(
            FILE, "m.d.sync += value.eq(selected & data & mask)",
            "m.d.sync += value.eq(value | (selected & data & mask))",
        ),
        "pulse-without-its-strobe": Patch(
            FILE, "value.eq(selected & data & mask)", "value.eq(selected & data)"
        ),
        "port-of-another-register": Patch(
            FILE, "port.strobe.eq(selected)", "port.strobe.eq(selected | self.s_axil.bvalid)"
        ),
        "refused-write-writes": Patch(
            FILE, "is_taken, hit = write & admitted, hit & admitted",
            "is_taken, hit = write, hit & admitted",
        ),
        "lock-opens": Patch(
            FILE, "self._locks[field.get_path()] | (selected & data & mask)",
            "selected & data & mask",
        ),
        "lock-by-hardware-is-late": Patch(
            FILE, 'held | self._port(field) if field.get_property("hwset") else held', "held"
        ),
        "written-before-the-data": Patch(
            FILE, "have_address & have_data & ~axi.bvalid",
            "have_address & (have_data | axi.wvalid) & ~axi.bvalid",
        ),
    },
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)


@pytest.mark.campaign
def test_registers_of_scord():
    assert holds_for_scord("writes")
