"""Loads, stores and their errors."""

import numpy as np
import pytest

from racetrap.golden_model.events import Scope, Space
from racetrap.sim.gpu.executor.machine.errors import ExecutionError
from racetrap.sim.gpu.executor.machine.memory import HEAP_BASE
from tests.support.gpu.ptx_kernels import Run


@pytest.mark.parametrize(
    ("load", "store", "value", "expected"),
    [
        ("s8", "s32", 0x80, 0xFFFFFF80), ("u8", "u32", 0x80, 0x80),
        ("s16", "s32", 0x8001, 0xFFFF8001), ("u16", "u32", 0x8001, 0x8001),
        ("b32", "u8", 0x11223344, 0x44), ("b32", "u16", 0x11223344, 0x3344),
    ],
)  # fmt: skip
def test_narrow_accesses_extend_and_cut(load, store, value, expected):
    data = np.array([value, 0], np.uint32)
    run = Run(f"ld.global.{load} %r1, [%d31]; st.global.{store} [%d33], %r1;", data=data)
    assert run.out()[0] == expected


def test_vectors():
    run = Run(
        "mul.wide.u32 %d1, %r31, 16; add.u64 %d2, %d31, %d1;"
        "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d2];"
        "add.u64 %d3, %d30, %d1; st.global.v2.u64 [%d3], {%d1, %d2};"
        "st.global.v4.u32 [%d3], {%r4, %r3, %r2, _};",
        data=np.arange(128, dtype=np.uint32),
        words=128,
    )
    found = run.out().reshape(32, 4)
    assert (found[:, :3] == np.arange(128).reshape(32, 4)[:, :0:-1]).all()
    load, wide, store = run.events("LOAD", "STORE")
    assert [event.size for event in (load, wide, store)] == [16, 16, 16]
    assert wide.lanes[3].value == 48
    assert wide.lanes[3].compare == run.data + 48
    assert store.lanes[1].value == 6 << 32 | 7
    assert [lane.address for lane in load.lanes[:2]] == [run.data, run.data + 16]


def test_wide_vectors_make_two_events():
    run = Run("ld.global.v4.f64 {%g1, %g2, %g3, %g4}, [%d31]; st.global.f64 [%d30], %g4;",
              data=np.arange(4.0), block=1)  # fmt: skip
    assert run.out(np.float64)[0] == 3.0
    first, second = run.events("LOAD")
    assert (first.size, first.lanes[0].address) == (16, run.data)
    assert (second.size, second.lanes[0].address) == (16, run.data + 16)


@pytest.mark.parametrize(
    ("modifiers", "strong", "scope"),
    [
        ("global", False, Scope.BLOCK), ("global.nc", False, Scope.BLOCK),
        ("global.cg", False, Scope.BLOCK), ("volatile.global", True, Scope.DEVICE),
        ("relaxed.cta.global", True, Scope.BLOCK), ("relaxed.gpu.global", True, Scope.DEVICE),
        ("relaxed.sys.global", True, Scope.DEVICE), ("relaxed.cluster", True, Scope.BLOCK),
    ],
)  # fmt: skip
def test_strength_and_scope(modifiers, strong, scope):
    (event,) = Run(f"ld.{modifiers}.u32 %r1, [%d31];").events("LOAD")
    assert (event.strong, event.scope) == (strong, scope)


def test_acquire_and_release_are_fences():
    run = Run(
        "st.release.cta.global.u32 [%d30], %r31; ld.acquire.gpu.global.u32 %r1, [%d31];"
        "atom.acq_rel.gpu.global.add.u32 %r1, [%d31], 1; fence.acq_rel.cta; membar.sys;",
        block=3,
    )
    events = run.events("LOAD", "STORE", "ATOMIC", "FENCE")
    assert [(event.kind.name, event.scope.name) for event in events] == [
        ("FENCE", "BLOCK"), ("STORE", "BLOCK"), ("LOAD", "DEVICE"), ("FENCE", "DEVICE"),
        ("FENCE", "DEVICE"), ("ATOMIC", "DEVICE"), ("FENCE", "DEVICE"), ("FENCE", "BLOCK"),
        ("FENCE", "DEVICE"),
    ]  # fmt: skip
    assert events[0].pc == events[1].pc != events[2].pc == events[3].pc
    assert events[0].mask == 7
    assert [event.order.name for event in events] == [
        "RELEASE", "RELEASE", "ACQUIRE", "ACQUIRE", "ACQ_REL", "ACQ_REL", "ACQ_REL", "ACQ_REL",
        "IMPLIED",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("instruction", "order"),
    [
        ("ld.relaxed.gpu.u32 %r1, [%d31];", "RELAXED"),
        ("ld.volatile.u32 %r1, [%d31];", "IMPLIED"),
        ("ld.u32 %r1, [%d31];", "IMPLIED"),
        ("st.relaxed.cta.u32 [%d31], %r31;", "RELAXED"),
        ("atom.relaxed.gpu.global.add.u32 %r1, [%d31], 1;", "IMPLIED"),
        ("atom.acquire.gpu.global.add.u32 %r1, [%d31], 1;", "ACQUIRE"),
        ("fence.sc.gpu;", "IMPLIED"),
        ("fence.gpu;", "ACQ_REL"),
        ("fence.acquire.gpu;", "ACQUIRE"),
        ("fence.release.gpu;", "RELEASE"),
        ("membar.gl;", "IMPLIED"),
    ],
)
def test_the_order_that_an_instruction_names_is_in_the_trace(instruction, order):
    events = Run(instruction).events("LOAD", "STORE", "ATOMIC", "FENCE")
    assert order in {event.order.name for event in events}
    assert {event.order.name for event in events} <= {order}


def test_predicated_accesses_have_only_their_lanes():
    run = Run("setp.lt.u32 %p1, %r31, 2; @!%p1 st.global.u32 [%d33], %r31;"
              "setp.gt.u32 %p2, %r31, 99; @%p2 st.global.u32 [%d33], %r31;", block=4)  # fmt: skip
    (store,) = run.events("STORE")
    assert [(lane.lane, lane.value) for lane in store.lanes] == [(2, 2), (3, 3)]
    assert run.out()[:5].tolist() == [0, 0, 2, 3, 0]


def test_a_load_may_overwrite_its_address():
    data = np.full(32, HEAP_BASE, np.uint64)
    run = Run("mul.wide.u32 %d1, %r31, 8; add.u64 %d1, %d31, %d1; ld.global.u64 %d1, [%d1];"
              "st.global.u64 [%d30], %d1;", data=data)  # fmt: skip
    (load,) = run.events("LOAD")
    assert [lane.address for lane in load.lanes] == [run.data + 8 * n for n in range(32)]
    assert run.out(np.uint64)[0] == HEAP_BASE


def test_the_first_lane_s_store_wins_as_on_an_h100():
    run = Run("st.global.u32 [%d30], %r31;")
    assert run.out()[0] == 0
    (store,) = run.events("STORE")
    assert [lane.value for lane in store.lanes] == list(range(32))


def test_of_some_lanes_the_first_one_s_store_wins():
    run = Run("setp.ge.u32 %p1, %r31, 5; @%p1 st.global.u32 [%d30], %r31;")
    assert run.out()[0] == 5


def test_shared_memory_and_generic_addresses():
    run = Run(
        "mov.u32 %r1, tile; shl.b32 %r2, %r31, 2; add.u32 %r3, %r1, %r2;"
        "st.shared.u32 [%r3+4], %r31;"
        "cvt.u64.u32 %d1, %r3; cvta.shared.u64 %d1, %d1;"
        "setp.lt.u32 %p1, %r31, 16; selp.b64 %d2, %d1, %d31, %p1;"
        "ld.u32 %r4, [%d2+4]; st.global.u32 [%d33], %r4;",
        outside=".shared .align 8 .b8 pad[8]; .shared .align 4 .b8 tile[132];",
        data=np.full(64, 7, np.uint32),
    )  # fmt: skip
    assert run.out()[:32].tolist() == [*range(16), *[7] * 16]
    store, first, second, _ = run.events("LOAD", "STORE")
    assert (store.space, store.lanes[0].address) == (Space.SHARED, 4)
    assert (first.space, len(first.lanes)) == (Space.GLOBAL, 16)
    assert (second.space, second.lanes[0].address) == (Space.SHARED, 4)


def test_dynamic_shared_memory_comes_last():
    run = Run(
        "mov.u32 %r1, fixed; mov.u32 %r2, dynamic; sub.u32 %r3, %r2, %r1;"
        "st.shared.u32 [%r2+12], %r1; st.global.u32 [%d30], %r3;",
        outside=".shared .align 4 .b8 fixed[20]; .extern .shared .align 16 .b8 dynamic[];",
        dynamic_shared=16,
    )
    assert run.out()[0] == 32


def test_shared_variables_are_aligned():
    run = Run(
        "mov.u32 %r1, odd; mov.u32 %r2, even; st.global.u32 [%d30], %r1;"
        "st.global.u32 [%d30+4], %r2;",
        outside=".shared .align 1 .b8 odd[5]; .shared .align 8 .b8 even[8];",
    )
    assert run.out()[:2].tolist() == [0, 8]


def test_local_memory_is_each_thread_s_own():
    run = Run(
        ".local .align 8 .b8 stack[16]; .reg .b64 %SPL; mov.u64 %SPL, stack;"
        "st.local.u32 [%SPL+8], %r31; cvta.local.u64 %d1, %SPL; ld.u32 %r1, [%d1+8];"
        "ld.local.u32 %r2, [stack+8]; add.u32 %r1, %r1, %r2; st.global.u32 [%d33], %r1;",
    )
    assert run.out()[:32].tolist() == [2 * lane for lane in range(32)]
    assert not run.events("LOAD")


def test_module_variables_have_their_first_values():
    run = Run(
        "ld.global.u64 %d1, [pointer]; ld.u32 %r1, [%d1]; ld.const.u32 %r2, [table+4];"
        "st.global.u32 [%d30], %r1; st.global.u32 [%d30+4], %r2;",
        outside=".global .align 4 .u32 word = 42; .const .align 4 .u32 table[2] = {1, 9};"
        ".global .align 8 .u64 pointer = word;",
        block=1,
    )
    assert run.out()[:2].tolist() == [42, 9]
    address, size = run.device.symbol(run.module, "word")
    assert (run.device.read(address, np.uint32, 1)[0], size) == (42, 4)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("st.global.u32 [%d33+256], %r31;", "thread (0, 0, 0) of block (0, 0, 0), kernel test"),
        ("ld.global.u32 %r1, [%d33+200];", "0 bytes past the end of buffer 0 (256 bytes"),
        ("ld.global.u32 %r1, [%d30+-8];", "0xffffff8, 8 bytes before buffer 0"),
        ("add.u64 %d1, %d30, 2; atom.global.add.u32 %r1, [%d1], 1;", "a multiple of 4, not"),
        ("ld.u64 %d1, [%d30+252];", "0x100000fc, across the end of buffer 0"),
        ("ld.u64 %d1, [%d30+4];", "address of ld.u64 must be a multiple of 8"),
        ("mov.u32 %r1, 8; ld.shared.u32 %r1, [%r1];", "inside the 8 bytes of shared memory"),
        ("mov.u32 %r1, 2; ld.shared.u32 %r1, [%r1];", "a multiple of 4, not 0x2"),
        ("mov.u64 %d1, 7; ld.u32 %r1, [%d1];", "inside a buffer, not 0x7"),
        ("mov.u64 %d1, 0xF00000000; ld.u32 %r1, [%d1];", "inside a buffer, not 0xf00000000"),
        ("mov.u64 %d1, 4; ld.local.u32 %r1, [%d1];", "inside the 0 bytes of local memory"),
    ],
)  # fmt: skip
def test_bad_addresses(body, message):
    outside = ".shared .align 4 .b8 tile[8];"
    with pytest.raises(ExecutionError) as error:
        Run(f"mov.u32 %r2, tile; {body}", outside=outside, block=(16, 2))
    assert message in str(error.value)
    assert str(error.value).startswith("test.ptx:")


def test_the_first_bad_lane_is_named():
    with pytest.raises(ExecutionError, match=r"thread \(4, 1, 0\) of block \(2, 0, 0\)"):
        Run("st.global.u32 [%d33], %r31; ld.param.u32 %r1, [p_n]; setp.gt.u32 %p1, %r34, %r1;"
            "mov.u32 %r2, %tid.y; setp.eq.and.u32 %p1, %r2, 1, %p1; mul.wide.u32 %d1, %r31, 256;"
            "add.u64 %d1, %d1, %d33; @%p1 st.global.u32 [%d1], %r1;",
            grid=3, block=(8, 2), number=19)  # fmt: skip


def test_lanes_may_access_several_buffers():
    run = Run("and.b32 %r1, %r31, 1; setp.eq.u32 %p1, %r1, 0; selp.b64 %d1, %d30, %d31, %p1;"
              "ld.global.u32 %r2, [%d1]; st.global.u32 [%d33], %r2;",
              data=np.array([5], np.uint32))  # fmt: skip
    assert run.out()[:4].tolist() == [0, 5, 0, 5]


def _resident():
    """KiB of this process, in which other tests have left theirs."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def test_memory_grows_only_with_what_is_touched():
    words, before = 1 << 28, _resident()
    run = Run("st.global.u32 [%d33], %r31; st.global.u32 [%d33+1073741000], %r31;", words=words)
    grown = _resident() - before
    assert run.device.read(run.address + 1073741000, np.uint32, 3).tolist() == [0, 1, 2]
    assert grown < words * 4 // 1024 // 2
