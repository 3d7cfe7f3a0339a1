"""Numbers that a link refuses."""

from __future__ import annotations

import pytest

from racetrap.rtl.link.link import Link

_GOOD = {
    "system": 1, "configuration": 0, "input_bits": 8, "inputs": 1, "output_bits": 8,
    "outputs": 1, "address_bits": 12, "divisor": 8, "credits": 8,
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("configuration", 1 << 32), ("input_bits", 2033), ("output_bits", 2025), ("inputs", 0),
        ("outputs", 65), ("address_bits", 17), ("divisor", 7), ("credits", 256),
    ],
)  # fmt: skip
def test_numbers_out_of_range(name, value):
    Link(**_GOOD)
    with pytest.raises(ValueError, match=f"not {value}"):
        Link(**_GOOD | {name: value})
