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
_BUGS = {
    "trap-is-not-seen": ("rvfi_tap", "self.i_valid & ~retired.trap", "self.i_valid"),
    "load-takes-the-mask": ("rvfi_tap", "(opcode == LOAD) & retired.mem_rmask.any()", "Const(0)"),
    "offset-has-no-sign": ("rvfi_tap", "insn[20:].as_signed()", "insn[20:]"),
    "add-reads-what-a-load-has-read": (
        "rvfi_tap", "(insn[:2] != 3) | opcode.matches(LOAD_FP, AMO)", "Const(1)"
    ),
    "atomic-reads-nothing": ("rvfi_tap", "opcode.matches(LOAD_FP, AMO)", "opcode.matches(LOAD_FP)"),
    "tag-of-software-is-ignored": ("rvfi_tap", "self.i_tag.any()", "Const(0)"),
    "write-is-cached-in-a-window": (
        "address_map", "(attribute == Attribute.CACHED) & is_inside", "Const(0)"
    ),
    "line-of-an-alias": ("rvfi_tap", "places.o_address if has_range else 0",
                         "self.i_retired.rs1_rdata if has_range else 0"),
    "all-lines-have-a-size": ("rvfi_tap", "int(has_range)", "1"),
    "ignored-memory-is-accessed": (
        "rvfi_tap", "(places.o_attribute != Attribute.IGNORED)", "Const(1)"
    ),
}  # fmt: skip


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


@pytest.mark.parametrize("name", one_for_each_file({name: bug[0] for name, bug in _BUGS.items()}))
def test_planted_bug_is_found(name):
    found, due = _found_and_due(_BUGS[name])
    assert found != due
