"""Accesses to all registers that software may write, on registers that have an error."""

from random import Random

import pytest

from racetrap.generators.register_map import RegisterMap
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.register_exercise import exercise_registers

_OKAY, _SLVERR = 0, 2


def _field(offset, width, kind="stored"):
    return {"offset": offset, "width": width, "kind": kind}


_MAP = RegisterMap({
    "ID": {"offset": 0, "fields": {"value": _field(0, 32, "constant")}},
    "CONTROL": {"offset": 4, "fields": {"on": _field(0, 2), "go": _field(8, 1, "pulse")}},
    "BASE": {"offset": 8, "fields": {"value": _field(0, 32)}},
    "STATUS": {"offset": 12, "fields": {"busy": _field(0, 1, "wire")}},
})  # fmt: skip


class _Registers:
    """Registers in Python; an error changes an access before it is made, or its answer."""

    map = _MAP

    def __init__(self, error):
        self.words, self._error = {4: 0b10, 8: 0x12345678}, error

    def read(self, register):
        return self.words[_MAP.address(register)]

    def write(self, register, value):
        self.words[_MAP.address(register)] = value

    def access(self, address, word=None, strobes=0xF, waits=(0, 0, 0)):
        assert word is None or not (address == 4 and word >> 2)  # no pulse is written
        if self._error == "strobe 2":
            strobes |= 4
        if self._error == "bit 31" and address == 8 and word is not None:
            word |= 1 << 31
        if self._error == "both" and word is not None and address in self.words:
            address = 12 - address
        response = _OKAY if address in self.words or self._error == "answers" else _SLVERR
        if word is not None and address in self.words:
            mask = sum(0xFF << 8 * byte for byte in range(4) if strobes >> byte & 1)
            self.words[address] = self.words[address] & ~mask | word & mask
        if self._error == "fails" and address == 8:
            response = _SLVERR
        return response, self.words.get(address, 0)


def test_registers_are_left_as_they_were():
    registers = _Registers("")
    exercise_registers(registers, Random(1))
    assert registers.words == {4: 0b10, 8: 0x12345678}


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        ("strobe 2", "Register BASE must be .* as it was written, not"),
        ("bit 31", "Register BASE must be .* as it was written, not"),
        ("both", "must be .* as it was written, not"),
        ("answers", "Register at 0x.* must answer SLVERR, not response 0"),
        ("fails", "Register BASE must answer OKAY, not response 2"),
    ],
)
def test_an_error_is_found(error, sentence):
    registers = _Registers(error)

    def exercise():
        for seed in range(10):
            exercise_registers(registers, Random(seed))

    with pytest.raises(Mismatch, match=sentence):
        exercise()
