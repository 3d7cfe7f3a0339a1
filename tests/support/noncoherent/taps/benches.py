"""Plays taps of the bus monitor beside their models."""

from random import Random

from amaranth.hdl import Value

from racetrap.golden_model.noncoherent.packets import BusOperation
from racetrap.golden_model.noncoherent.taps.descriptor_tap import (
    ACCESS_LAYOUT,
    DescriptorTap,
    RegisterAccess,
)
from racetrap.golden_model.noncoherent.taps.rvfi_tap import (
    AMO,
    LOAD,
    LOAD_FP,
    RETIRED_LAYOUT,
    Retired,
    operations_of,
)
from racetrap.golden_model.noncoherent.taps.tap_queue import TapQueue
from tests.support.noncoherent.taps.system import (
    PARAMS,
    outputs_of,
    packed_windows,
    random_address,
    random_windows,
)
from tests.support.rtl.streams import simulate

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


def rvfi_found_and_due(dut, seed=11):
    """Operations that the tap and its model make of random instructions."""
    random, inputs, due = Random(seed), [], []
    for _ in range(500):
        retired, windows = _instruction(random), random_windows(random)
        valid, tag = random.random() < 0.9, random.choice((0, 7))
        inputs.append({
            "i_valid": int(valid), "i_retired": RETIRED_LAYOUT.pack(retired._asdict()),
            "i_tag": tag, "i_windows": packed_windows(windows),
        })  # fmt: skip
        due.append(list(operations_of(PARAMS, retired, windows, tag)) if valid else [])
    return outputs_of(dut, inputs), due


def descriptor_found_and_due(dut, registers, seed=5):
    """Operations that the tap and its model make of random register accesses."""
    random, inputs, due, model = Random(seed), [], [], DescriptorTap(registers, 1)
    for _ in range(400):
        address = random.choice((0, 4, 8, 0xC, 0x10, 0x14, 0x18, 0x1C))
        address ^= random.choice((0, 0, 0, 1 << random.randrange(32)))
        data = random.choice((0, 1, 2, 3, 4, 0x103, random.getrandbits(32)))
        access = RegisterAccess(random.random() < 0.9, random.random() < 0.7, address, data)
        tag = random.getrandbits(32)
        inputs.append({"i_access": ACCESS_LAYOUT.pack(access._asdict()), "i_tag": tag})
        due.append(list(model.step(access, tag)))
    return outputs_of(dut, inputs), due


def queue_differs(dut, lanes, depth, seed=9):
    """Number of the first cycle in which hardware and model differ; and operations lost."""
    layout = PARAMS.monitor.operation_layout
    random, model, differing = Random(seed), TapQueue(depth), []

    async def play(ctx):
        for cycle in range(600):
            busy = random.random() < (0.9 if cycle // 100 % 2 else 0.3)
            valids = [int(busy and random.random() < 0.5) for _ in range(lanes)]
            group = [
                BusOperation(**layout.unpack(random.getrandbits(layout.width))) if valid else None
                for valid in valids
            ]
            for lane, operation in enumerate(group):
                word = 0 if operation is None else 1 | layout.pack(operation._asdict()) << 1
                ctx.set(Value.cast(dut.i_lanes[lane]), word)
            ctx.set(dut.o.ready, ready := int(random.random() < 0.6))
            *_, valid, word, lost = await ctx.tick().sample(
                dut.o.valid, Value.cast(dut.o.payload), dut.o_lost
            )
            offered, before = model.first, model.lost
            due = None if offered is None else layout.pack(offered._asdict())
            model.step([one for one in group if one], bool(offered and ready))
            if (due, model.lost - before) != (word if valid else None, lost):
                differing.append(cycle)
                return

    simulate(dut, play)
    return differing, model.lost
