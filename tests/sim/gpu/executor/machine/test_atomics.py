"""Atomics: results, lane order and their events in traces."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from racetrap.golden_model.events import AtomicOp, Scope
from racetrap.sim.gpu.executor.machine.atomics import ATOMIC_OPERATIONS
from racetrap.sim.gpu.ptx.errors import PtxError
from tests.support.gpu.ptx_kernels import QUICK, Run


@pytest.mark.parametrize(
    ("name", "first", "operand", "expected"),
    [
        ("add.u32", 2**32 - 1, 2, 1), ("add.s32", 5, -6 % 2**32, 2**32 - 1),
        ("min.s32", 3, -1 % 2**32, 2**32 - 1), ("min.u32", 3, 2**32 - 1, 3),
        ("max.s32", 3, -1 % 2**32, 3), ("max.u32", 3, 2**32 - 1, 2**32 - 1),
        ("and.b32", 12, 10, 8), ("or.b32", 12, 10, 14), ("xor.b32", 12, 10, 6),
        ("exch.b32", 12, 10, 10), ("inc.u32", 3, 7, 4), ("inc.u32", 7, 7, 0),
        ("dec.u32", 3, 7, 2), ("dec.u32", 0, 7, 7), ("dec.u32", 9, 7, 7),
    ],
)  # fmt: skip
@pytest.mark.parametrize("spelling", ["atom.global", "atom.shared", "atom"])
def test_results(spelling, name, first, operand, expected):
    base = "%d1" if "shared" in spelling else "%d31"
    body = (
        f"mov.u64 %d1, 0; mov.u32 %r1, {first}; st.shared.u32 [%d1], %r1; mov.u32 %r9, word;"
        f"{spelling}.{name} %r2, [{base}], {operand}; st.global.u32 [%d30], %r2;"
        f"ld{spelling[4:]}.u32 %r3, [{base}]; st.global.u32 [%d30+4], %r3;"
    )
    run = Run(body, data=np.array([first], np.uint32), block=1,
              outside=".shared .align 4 .b8 word[4];")  # fmt: skip
    assert run.out()[:2].tolist() == [first, expected]


def test_wide_and_float():
    run = Run(
        "mov.f32 %f1, 0f3FC00000; atom.global.add.f32 %f2, [%d31], %f1; st.global.f32 [%d33], %f2;"
        "mov.u64 %d1, -1; red.global.add.u64 [%d31+8], %d1; atom.global.cas.b64 %d2, [%d31+16], 0,"
        "%d1; atom.add.f64 %g1, [%d31+24], 0d3FF0000000000000;",
        data=np.zeros(4, np.uint64),
    )
    assert run.out(np.float32)[:32].tolist() == [1.5 * lane for lane in range(32)]
    data = run.device.read(run.data, np.uint64, 4)
    assert data[1] == 2**64 - 32
    assert data[2] == 2**64 - 1
    assert data.view(np.float64)[3] == 32.0


@QUICK
@given(
    name=st.sampled_from(["add", "min", "max", "inc", "dec", "and", "or", "xor", "exch"]),
    places=st.lists(st.integers(0, 3), min_size=32, max_size=32),
    operand=st.integers(0, 40),
)
def test_lanes_go_in_order(name, places, operand):
    kind = "b32" if name in ("and", "or", "xor", "exch") else "u32"
    run = Run(
        "mul.wide.u32 %d1, %r31, 4; add.u64 %d1, %d31, %d1; ld.global.u32 %r1, [%d1];"
        f"mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d2, %d31; add.u32 %r2, %r31, {operand};"
        f"atom.global.{name}.{kind} %r3, [%d2+128], %r2; st.global.u32 [%d33], %r3;",
        data=np.array([*places, 0, 0, 0, 0], np.uint32),
    )
    cells, olds = [0] * 4, []
    for lane, place in enumerate(places):
        olds.append(cells[place])
        cells[place] = ATOMIC_OPERATIONS[name](cells[place], lane + operand)
    assert run.out()[:32].tolist() == olds
    assert run.device.read(run.data + 128, np.uint32, 4).tolist() == cells


def test_what_the_trace_tells():
    run = Run(
        "atom.global.cta.cas.b32 %r1, [%d31], 0, 5; atom.exch.release.gpu.b32 %r1, [%d31], 9;"
        "red.relaxed.sys.global.add.u32 [%d31], 1; atom.global.max.s32 %r1, [%d31], -1;",
        block=2,
    )
    cas, exch, add, maximum = run.events("ATOMIC")
    assert (cas.op, cas.scope, cas.size, cas.strong) == (AtomicOp.CAS, Scope.BLOCK, 4, True)
    assert [(lane.value, lane.compare, lane.success) for lane in cas.lanes] == [
        (5, 0, True), (5, 0, False),
    ]  # fmt: skip
    assert (exch.op, exch.scope, exch.lanes[1].value) == (AtomicOp.EXCH, Scope.DEVICE, 9)
    assert (add.op, add.scope, add.lanes[0].value) == (AtomicOp.OTHER, Scope.DEVICE, 0)
    assert maximum.scope == Scope.DEVICE
    (fence,) = run.events("FENCE")
    assert fence.pc == exch.pc


def test_of_16_bits():
    run = Run(
        "mov.b16 %h1, 0x3C00; atom.global.add.noftz.f16 %h2, [%d31], %h1;"
        "mov.u32 %r1, 0x3C004000; atom.global.add.noftz.f16x2 %r2, [%d31+4], %r1;"
        "cvt.u16.u32 %h3, %r31; add.u16 %h4, %h3, 1; atom.global.cas.b16 %h5, [%d31+8], %h3, %h4;"
        "st.global.u16 [%d33], %h5;",
        data=np.zeros(4, np.uint32),
    )
    data = run.device.read(run.data, np.float16, 6)
    assert data[[0, 2, 3]].tolist() == [32.0, 64.0, 32.0]
    assert run.device.read(run.data + 8, np.uint16, 1) == 32
    assert run.out()[:32].tolist() == list(range(32))
    add, pair, cas = run.events("ATOMIC")
    assert (add.size, pair.size, cas.size) == (2, 4, 2)
    for lane in cas.lanes:
        assert lane.success


@pytest.mark.parametrize(
    "text", ["atom.global.min.f16 %h1, [%d31], %h2", "atom.global.min.f32 %f1, [%d31], %f2",
             "atom.global.min.f16x2 %r1, [%d31], %r2", "red.global.add.v2.f32 [%d31], %f1",
             "atom.global.exch.b8 %h1, [%d31], %h2", "atom.global.u32 %r1, [%d31], 1"],
)  # fmt: skip
def test_unknown_forms(text):
    with pytest.raises(PtxError, match=r"test.ptx:\d+: .*(atom|red)"):
        Run(f"{text};")
