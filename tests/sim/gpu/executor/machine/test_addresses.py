"""Addresses of 32 bits: every form of them, with sums that wrap and sums that do not."""

from itertools import product

import numpy as np
import pytest

from racetrap.golden_model.ptx_memory_model.operational import InOrder
from racetrap.sim.gpu.executor.machine.errors import Fault, KernelFault
from racetrap.sim.gpu.executor.machine.weak_memory import MEMORY_MODELS, WeakMemorySettings
from tests.support.campaign import later_but
from tests.support.gpu.ptx_kernels import Run

#: Each lane has a cell of 16 bytes, the words 4 * lane to 4 * lane + 3.
_CELLS = np.arange(128, dtype=np.uint32)
_DECLARED = {
    "shared": (".shared .align 16 .b8 pad[48]; .shared .align 16 .b8 cells[512];",
               "mov.u32 %r1, pad;"),
    "local": ("", ".local .align 16 .b8 pad[48]; .local .align 16 .b8 cells[512];"),
    "const": (f".const .align 16 .u32 cells[128] = {{{', '.join(map(str, _CELLS))}}};", ""),
}  # fmt: skip
_OFFSETS = (0, 4, 64, 508, 0x7FFFFFF0, 0xFFFFFFC0, -4, -64, -512, -0x7FFFFFFC, -0x80000000)
#: Registers that an address may be in, and upper halves that they may have.
_BASES = [
    *((f"{kind}32", 0) for kind in "bus"),
    *((f"{kind}64", upper) for kind in "bus" for upper in (0, 1, 0xFFFFFFFF)),
]
#: Every memory model takes its addresses in the same way.
_MEMORIES = (None, "views")
_FORMS = {
    "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8", "v2.u32": "u4", "v4.u32": "u4",
    "v2.u64": "u8",
}  # fmt: skip


#: A third of all combinations of bases, offsets and more, which has every pair of them, and the
#: two that the campaign tries besides.
_THIRDS = later_but((0).__eq__, range(3))


def _third(number, *more):
    """That third of all combinations; each choice is of three values at least."""
    choices = (_BASES, _OFFSETS, *more)
    places = (range(len(values)) for values in choices)
    for at in product(*places):
        if sum(at) % 3 == number:
            yield tuple(values[place] for values, place in zip(choices, at, strict=True))


def _base(kind, upper, offset):
    """Code of a base register of a type such that with the offset it is the lane's cell."""
    low = f"sub.u32 %r4, %r2, {offset & 0xFFFFFFFF};"
    if kind.endswith("32"):
        return f"{{ .reg .{kind} %a; {low} mov.b32 %a, %r4;"
    return f"{{ .reg .{kind} %a; {low} mov.b32 %r5, {upper}; mov.b64 %a, {{%r4, %r5}};"


def _run(space, lines, memory=None, independent=False, out=None, **options):
    """A run in which ``%r2`` is the address of the lane's cell, and ``%d33`` of its output."""
    outside, inside = _DECLARED[space]
    fill = ""
    if space != "const":
        fill = (
            "shl.b32 %r3, %r31, 2; add.u32 %r6, %r3, 1; add.u32 %r7, %r3, 2; add.u32 %r8, %r3, 3;"
            f"st.{space}.v4.u32 [%r2], {{%r3, %r6, %r7, %r8}};"
        )
    settings = memory and WeakMemorySettings(MEMORY_MODELS[memory], InOrder())
    return Run(
        f"{inside} mov.u32 %r1, cells; mad.lo.u32 %r2, %r31, 16, %r1; {fill} {' '.join(lines)}",
        outside=outside, words=32 * (out or 1), memory=settings, independent_threads=independent,
        **options,
    )  # fmt: skip


def _results(run, count):
    return run.out().reshape(count, 32)


def _cell_bytes(dtype, element):
    """Element of that type of each lane's cell, its low word."""
    values = _CELLS.view(np.uint8).reshape(32, 16).view(dtype)[:, element]
    return values.astype(np.uint32)


@pytest.mark.parametrize(
    ("space", "independent", "memory"),
    later_but(
        lambda each: each[0] == "shared" or each[1:] == (False, None),
        ((space, *way) for space in _DECLARED
         for way in ((False, None), (True, None), (False, "views"))),
    ),
)  # fmt: skip
@pytest.mark.parametrize("third", _THIRDS)
def test_loads(space, independent, memory, third):
    lines, expected = [], []
    for (kind, upper), offset, (form, dtype) in _third(third, tuple(_FORMS.items())):
        vector = form.startswith("v")
        count = int(form[1]) if vector else 1
        bits = 64 if form.endswith("64") else 32
        names = [f"%{'d' if bits == 64 else 'r'}{10 + n}" for n in range(count)]
        target = f"{{{', '.join(names)}}}" if vector else names[0]
        last = names[-1]
        narrow = f"cvt.u32.u64 %r9, {last};" if bits == 64 else f"mov.u32 %r9, {last};"
        at = 128 * len(expected)
        lines.append(
            f"{_base(kind, upper, offset)} ld.{space}.{form} {target}, [%a+{offset}]; {narrow}"
            f"st.global.u32 [%d33+{at}], %r9; }}"
        )
        expected.append(_cell_bytes(dtype, count - 1))
    run = _run(space, lines, memory, independent, out=len(expected))
    assert (_results(run, len(expected)) == np.array(expected)).all()


@pytest.mark.parametrize("memory", _MEMORIES)
@pytest.mark.parametrize("space", ["shared", "local"])
@pytest.mark.parametrize("third", _THIRDS)
def test_stores(space, memory, third):
    lines = []
    cases = list(_third(third, ("u32", "v2.u32", "u64")))
    for number, ((kind, upper), offset, form) in enumerate(cases):
        source = {"u32": "%r9", "v2.u32": "{%r9, %r31}", "u64": "%d9"}[form]
        lines.append(
            f"{_base(kind, upper, offset)} add.u32 %r9, %r31, {number}; cvt.u64.u32 %d9, %r9;"
            f"st.{space}.{form} [%a+{offset}], {source}; ld.{space}.u32 %r10, [%r2];"
            f"st.global.u32 [%d33+{128 * number}], %r10; }}"
        )
    run = _run(space, lines, memory, out=len(cases))
    expected = np.arange(32) + np.arange(len(cases))[:, None]
    assert (_results(run, len(cases)) == expected).all()


@pytest.mark.parametrize("memory", _MEMORIES)
def test_atomics(memory):
    lines = []
    cases = list(product(_BASES, _OFFSETS, ("atom", "red")))
    for number, ((kind, upper), offset, opcode) in enumerate(cases):
        result = "%r9, " if opcode == "atom" else ""
        lines.append(
            f"{_base(kind, upper, offset)} {opcode}.shared.add.u32 {result}[%a+{offset}], 1;"
            f"ld.shared.u32 %r10, [%r2]; st.global.u32 [%d33+{128 * number}], %r10; }}"
        )
    run = _run("shared", lines, memory, out=len(cases))
    expected = 4 * np.arange(32) + 1 + np.arange(len(cases))[:, None]
    assert (_results(run, len(cases)) == expected).all()


def test_only_some_lanes_and_what_the_trace_says():
    lines = [
        f"{_base(kind, upper, offset)} setp.lt.u32 %p1, %r31, 7;"
        f"@%p1 ld.shared.u32 %r9, [%a+{offset}]; @%p1 st.shared.u32 [%a+{offset}], %r9; }}"
        for (kind, upper), offset in product(_BASES, _OFFSETS)
    ]
    run = _run("shared", lines)
    _, *events = run.events("LOAD", "STORE")
    assert len(events) == 2 * len(lines)
    for event in events:
        assert [lane.address for lane in event.lanes] == [48 + 16 * lane for lane in range(7)]


@pytest.mark.parametrize("space", ["shared", "local"])
def test_generic_addresses_before_a_window_come_back_into_it(space):
    lines = [
        f"cvt.u64.u32 %d1, %r2; add.s64 %d1, %d1, {-offset}; cvta.{space}.u64 %d2, %d1;"
        f"ld.u32 %r9, [%d2+{offset}]; cvta.to.{space}.u64 %d3, %d2;"
        f"ld.{space}.u32 %r10, [%d3+{offset}]; cvt.u32.u64 %r11, %d3;"
        f"ld.{space}.u32 %r11, [%r11+{offset}]; add.u32 %r9, %r9, %r10; add.u32 %r9, %r9, %r11;"
        f"st.global.u32 [%d33+{128 * number}], %r9;"
        for number, offset in enumerate(_OFFSETS)
    ]
    run = _run(space, lines, out=len(lines))
    assert (_results(run, len(lines)) == 12 * np.arange(32)).all()


@pytest.mark.parametrize("space", ["shared", "local"])
@pytest.mark.parametrize(("offset", "said"), [(-64, "-0x10"), (512, "0x230")])
def test_an_address_outside_is_still_a_fault(space, offset, said):
    with pytest.raises(KernelFault, match=f"not {said} ") as error:
        _run(space, [f"ld.{space}.u32 %r9, [%r2+{offset}];"])
    assert error.value.fault is Fault.TRAP


@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize("space", sorted(_DECLARED))
def test_load_from_outside_gets_0_and_the_launch_goes_on(space, independent):
    """Behind the cell of the last lane is no memory."""
    line = f"mov.u32 %r9, 7; ld.{space}.u32 %r9, [%r2+16]; st.global.u32 [%d33], %r9;"
    run = _run(space, [line], independent=independent, keeps_going=True)
    # Each lane has a local memory of its own.
    neighbours = np.zeros(31) if space == "local" else 4 * np.arange(1, 32)
    assert run.out().tolist() == [*neighbours, 0]
    (sentence,) = run.device.trace("test").header.outside.values()
    assert "(thread (31, 0, 0) of block (0, 0, 0), kernel test)" in sentence
    assert sentence.endswith("; it gets 0")


def test_store_outside_and_misaligned_load_end_the_launch_all_the_same():
    for line, fault in (
        ("st.shared.u32 [%r2+512], 1;", Fault.TRAP),
        ("ld.shared.u32 %r9, [%r2+2];", Fault.MISALIGNED_ADDRESS),
    ):
        with pytest.raises(KernelFault) as error:
            _run("shared", [line], keeps_going=True)
        assert error.value.fault is fault


#: Instructions of 32 and 64 bits with what they make of an operand ``{}`` and a register.
_WIDTHS = {
    32: ("r", "-64", [
        "add.u32 {0}, {1}, {2}", "add.s32 {0}, {2}, {1}", "sub.u32 {0}, {1}, {2}",
        "mul.lo.u32 {0}, {1}, {2}", "mul.hi.u32 {0}, {1}, {2}", "mul.hi.s32 {0}, {1}, {2}",
        "mad.lo.s32 {0}, {1}, {2}, {2}", "and.b32 {0}, {1}, {2}", "or.b32 {0}, {1}, {2}",
        "xor.b32 {0}, {1}, {2}", "shl.b32 {0}, {2}, 3", "shr.u32 {0}, {2}, 3", "not.b32 {0}, {2}",
        "shr.s32 {0}, {2}, 3", "min.u32 {0}, {1}, {2}", "max.s32 {0}, {1}, {2}", "neg.s32 {0}, {2}",
        "div.u32 {0}, {1}, {2}", "rem.u32 {0}, {1}, {2}", "selp.b32 {0}, {1}, {2}, %p1",
        "bfe.u32 {0}, {2}, 2, 9", "bfi.b32 {0}, {1}, {2}, 2, 9", "popc.b32 {0}, {2}",
        "setp.lt.u32 %p2, {1}, {2}; selp.b32 {0}, 1, 0, %p2",
        "setp.gt.s32 %p2, {1}, {2}; selp.b32 {0}, 1, 0, %p2",
        "lop3.b32 {0}, {1}, {2}, {2}, 0x6a", "prmt.b32 {0}, {1}, {2}, 0x5410",
    ]),
    64: ("d", "-64", [
        "add.u64 {0}, {1}, {2}", "add.s64 {0}, {2}, {1}", "sub.s64 {0}, {1}, {2}",
        "mul.lo.u64 {0}, {1}, {2}", "mul.hi.u64 {0}, {1}, {2}", "and.b64 {0}, {1}, {2}",
        "or.b64 {0}, {1}, {2}", "xor.b64 {0}, {1}, {2}", "shr.u64 {0}, {2}, 3", "not.b64 {0}, {2}",
        "min.u64 {0}, {1}, {2}", "max.s64 {0}, {1}, {2}", "div.u64 {0}, {1}, {2}",
        "selp.b64 {0}, {1}, {2}, %p1", "setp.lt.u64 %p2, {1}, {2}; selp.b64 {0}, 1, 0, %p2",
        "cvta.global.u64 {0}, {2}", "cvta.shared.u64 {0}, {2}", "cvta.to.shared.u64 {0}, {2}",
    ]),
}  # fmt: skip


@pytest.mark.parametrize("guard", ["", "@%p1 "])
@pytest.mark.parametrize("width", _WIDTHS)
@pytest.mark.parametrize("symbol", ["cells", "cells+40", "table+8", "word", "stack+4", "test"])
def test_symbols_are_operands_like_a_register_of_their_address(symbol, width, guard):
    letter, other, instructions = _WIDTHS[width]
    lines = [".local .align 8 .b8 low[8]; .local .align 8 .b8 stack[16];"
             f"setp.lt.u32 %p1, %r31, 9; mov.b{width} %{letter}3, {symbol};"
             f"mov.b{width} %{letter}4, {other};"]  # fmt: skip
    for number, instruction in enumerate(instructions):
        lines += [f"mov.b{width} %{letter}{n}, 7;" for n in (1, 2)]
        for target, operand in ((1, symbol), (2, f"%{letter}3")):
            text = instruction.format(f"%{letter}{target}", f"%{letter}4", operand)
            lines.append(f"{guard}{text};".replace("; ", f"; {guard}"))
        lines.append(
            f"xor.b{width} %{letter}1, %{letter}1, %{letter}2;"
            f"setp.ne.b{width} %p3, %{letter}1, 0; selp.b32 %r9, 1, 0, %p3;"
            f"st.global.u32 [%d33+{128 * number}], %r9;"
        )
    run = Run(
        " ".join(lines), words=32 * len(instructions),
        outside=".shared .align 8 .b8 pad[48]; .shared .align 8 .b8 cells[64];"
        ".global .align 4 .u32 word; .const .align 4 .u32 table[4] = {1, 2, 3, 4};",
    )  # fmt: skip
    wrong = run.out().reshape(-1, 32).any(axis=1)
    assert [text for text, is_wrong in zip(instructions, wrong, strict=True) if is_wrong] == []
