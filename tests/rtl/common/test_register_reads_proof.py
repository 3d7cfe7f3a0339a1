"""Proof: software reads what a register holds."""

import pytest

from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.proof import proof_tests
from tests.support.rtl.register_proof import FILE, holds_for_scord, register_proof

PROOF = register_proof(
    "reads",
    rule="What software reads is what the register held when the address was taken: constants, "
    "wires, written fields, counters (which add, stop or wrap, and clear as described), 0 "
    "for one-shot bits, where no register is, and if the read is refused.",
    events=("counted", "wrapped", "write-beside", "nothing-there"),
    bugs={
        "counter-clears-last": Patch(
            FILE, "with m.If(port.clear):", "with m.If(port.clear & ~total[0]):"
        ),
        "counter-wraps": Patch(
            FILE, 'total[-1] & bool(field.get_property("incrsaturate"))', "Const(0, 1)"
        ),
        "pulse-can-be-read": Patch(
            FILE, "if field.is_sw_readable and field_kind(field) is not FieldKind.PULSE",
            "if field.is_sw_readable",
        ),
        "refused-read-shows": Patch(FILE, "Mux(admitted, data, 0), hit", "data, hit"),
        "field-at-bit-0": Patch(FILE, "value.shift_left(field.lsb)", "value"),
    },
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)


@pytest.mark.campaign
def test_registers_of_scord():
    assert holds_for_scord("reads")
