"""The kernel's code as judge of what is seen at a core: right words pass, changed ones do not."""

import pytest

from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.vortex.instruction_word import check_word
from tests.support.vortex.random_issue import word_of

_PC = 0x8000_0040
#: Instruction words of an assembler, with what is seen at the core.
_SEEN = {
    "lw a1, -8(a0)": (0xFF852583, {"unit": 1, "operation": 2, "offset": 0xFF8}),
    "lbu a1, 3(a0)": (0x00354583, {"unit": 1, "operation": 4, "offset": 3}),
    "sh a1, 6(a0)": (0x00B51323, {"unit": 1, "operation": 9, "offset": 6}),
    "sw a5, -4(a0)": (0xFEF52E23, {"unit": 1, "operation": 10, "offset": 0xFFC}),
    "fence": (0x0FF0000F, {"unit": 1, "operation": 15}),
    "tmc x0": (0x0000000B, {"unit": 2, "operation": 0}),
    "bar a0, a1": (0x00B5400B, {"unit": 2, "operation": 4, "offset": 2}),
    "bar.arrive a2, a0, a1": (0x00B5660B, {"unit": 2, "operation": 4, "offset": 1}),
    "bar.wait a0, a1": (0x00B5600B, {"unit": 2, "operation": 4, "offset": 0}),
    "wsync": (0x0000700B, {"unit": 2, "operation": 10}),
    "split a1, a0": (0x0005258B, {"unit": 2, "operation": 2}),
    "add a0, a0, a1": (0x00B50533, {"unit": 0, "operation": 0}),
    "csrr t0, mhartid": (0xF14022F3, {"unit": 2, "operation": 7}),
}  # fmt: skip

#: Those that concern no detector and no unit of memory.
_OF_NOBODY = {"add a0, a0, a1", "csrr t0, mhartid"}


class _Kernel:
    """A kernel of one instruction."""

    def __init__(self, word):
        self._word = word

    def instruction(self, pc):
        assert pc == _PC
        return self._word


@pytest.mark.parametrize("name", _SEEN)
def test_what_is_seen_is_the_instruction(name):
    word, fields = _SEEN[name]
    check_word(_Kernel(word), word_of(0, **fields, pc=_PC))


@pytest.mark.parametrize("name", _SEEN)
def test_another_instruction_is_a_mismatch(name):
    _, fields = _SEEN[name]
    for other, (word, _) in _SEEN.items():
        if other != name and not {other, name} <= _OF_NOBODY:
            with pytest.raises(Mismatch, match="0x80000040"):
                check_word(_Kernel(word), word_of(0, **fields, pc=_PC))


@pytest.mark.parametrize("bit", range(12))
def test_each_bit_of_an_offset_counts(bit):
    word, fields = _SEEN["lw a1, -8(a0)"]
    seen = fields | {"offset": fields["offset"] ^ 1 << bit}
    with pytest.raises(Mismatch):
        check_word(_Kernel(word), word_of(0, **seen, pc=_PC))
