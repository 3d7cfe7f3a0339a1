"""The RVFI tap against its model on random instructions, and planted bugs."""

from random import Random

import pytest

from racetrap.golden_model.noncoherent.taps.rvfi_tap import (
    AMO,
    LOAD,
    LOAD_FP,
    RETIRED_LAYOUT,
    Retired,
    operations_of,
)
from tests.support.noncoherent.taps.planted_bugs import RVFI_TAP_BUGS
from tests.support.noncoherent.taps.system import (
    PARAMS,
    module_of,
    outputs_of,
    packed_windows,
    random_address,
    random_windows,
)
from tests.support.planted_bugs import one_for_each_file

_STORE, _ADD = 0x23, 0x33
_MASKS = (0b0001, 0b0010, 0b0100, 0b1000, 0b0011, 0b1100, 0b1111)


def _instruction(random: Random) -> Retired:
    insn = random.getrandbits(32)
    kind = random.choice((LOAD, LOAD, LOAD_FP, AMO, _STORE, _STORE, _ADD, "compressed", "word"))
    rs1, address = random_address(random), random_address(random)
    mask = random.choice(_MASKS)
    read, write = random.choice(((mask, 0), (0, mask), (0, 0), (mask, mask)))
    if kind == "compressed":
        insn &= 0xFFFF & ~3 | random.randrange(3)
    elif kind == "word":
        word = random.choice(PARAMS.maintenance)
        insn = insn & ~word.mask | word.match
    else:
        insn = insn & ~0x7F | kind
    if kind == LOAD:
        # A byte, a halfword or a word, signed or not, near its base.
        funct3, offset = random.choice((0, 1, 2, 4, 5)), random.choice((0, 1, 4, 0xFFC, 0xFFF))
        insn = insn & ~(7 << 12) & 0xF_FFFF | funct3 << 12 | offset << 20
        read, write = random.choice((0, 0b1111)), 0
    return Retired(
        int(random.random() < 0.1), insn, rs1, random.getrandbits(32), address, read, write
    )


def _found_and_due(bug):
    random, inputs, due = Random(11), [], []
    for _ in range(500):
        retired, windows = _instruction(random), random_windows(random)
        valid, tag = random.random() < 0.9, random.choice((0, 7))
        inputs.append({
            "i_valid": int(valid), "i_retired": RETIRED_LAYOUT.pack(retired._asdict()),
            "i_tag": tag, "i_windows": packed_windows(windows),
        })  # fmt: skip
        due.append(list(operations_of(PARAMS, retired, windows, tag)) if valid else [])
    return outputs_of(module_of("rvfi_tap", bug).RvfiTap(PARAMS), inputs), due


def test_operations_are_those_of_the_model():
    found, due = _found_and_due(None)
    assert found == due
    assert {len(group) for group in due} == {0, 1, 2}


@pytest.mark.parametrize(
    "name", one_for_each_file({name: bug.file for name, bug in RVFI_TAP_BUGS.items()})
)
def test_planted_bug_is_found(name):
    found, due = _found_and_due(RVFI_TAP_BUGS[name])
    assert found != due
