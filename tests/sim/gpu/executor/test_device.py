"""The device: buffers, variables, traces."""

import numpy as np
import pytest

from racetrap.golden_model.trace.gpu.schema import EVENT_DTYPE
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.executor.machine.errors import ExecutionError
from racetrap.sim.gpu.executor.machine.memory import HEAP_BASE
from tests.support.gpu.ptx_kernels import GEOMETRY, Run, module

STORE = "st.global.u32 [%d33], %r34;"


def test_buffers_are_aligned_and_apart():
    device = Device(GEOMETRY)
    sizes = [1, 255, 256, 257, 4096]
    addresses = [device.allocate(size) for size in sizes]
    assert addresses[0] == HEAP_BASE
    for address in addresses:
        assert address % 256 == 0
    ends = [address + size for address, size in zip(addresses, sizes, strict=True)]
    for end, start in zip(ends, addresses[1:], strict=False):
        assert end < start


def test_reading_and_writing():
    device = Device(GEOMETRY)
    address = device.allocate(np.arange(6, dtype=np.int16).reshape(2, 3))
    assert device.read(address, np.int16, 6).tolist() == list(range(6))
    copy = device.read(address, np.int16, 2)
    device.write(address + 2, np.array([-7], np.int16))
    assert (copy.tolist(), device.read(address, np.int16, 2).tolist()) == ([0, 1], [0, -7])
    for wrong in (lambda: device.read(address, np.int16, 7),
                  lambda: device.write(address + 8, np.zeros(3, np.int16)),
                  lambda: device.read(0, np.uint8, 1)):  # fmt: skip
        with pytest.raises(ValueError, match="Range of"):
            wrong()


def test_bad_sizes_and_limits():
    device = Device(GEOMETRY)
    with pytest.raises(ValueError, match="Buffer size must be at least 1 byte, not 0"):
        device.allocate(0)
    with pytest.raises(ExecutionError, match="Buffers need"):
        device.allocate(1 << 32)
    with pytest.raises(ValueError, match="Stall limit must be at least 1, not 0"):
        Device(GEOMETRY, stall_limit=0)


def test_symbols():
    device = Device(GEOMETRY)
    loaded = module("", ".global .align 4 .b8 table[12];")
    address, size = device.symbol(loaded, "table")
    device.load(loaded)
    assert device.symbol(loaded, "table") == (address, size) == (HEAP_BASE, 12)
    with pytest.raises(ExecutionError, match=r"Symbol must be a variable of test.ptx, not other"):
        device.symbol(loaded, "other")


def test_a_trace_covers_all_launches_and_buffers():
    run = Run(STORE, block=40)
    first = run.device.trace("first")
    run.device.launch(run.module, "test", 1, 40, [run.address, run.data, 0])
    second = run.device.trace("both")
    assert len(second) == 2 * len(first)
    assert np.array_equal(second.events[: len(first)], first.events)
    region = second.header.region
    assert region.data_base <= run.address
    assert run.data + 256 <= region.data_base + (1 << region.size_log2)
    assert second.header.source == "both"


def test_source_lines_are_in_the_trace():
    run = Run(f'.loc 1 7 3\n{STORE}\n.loc 1 9 1\nadd.u32 %r1, %r1, 1;',
              outside='.file 1 "kernel.cu"\n')  # fmt: skip
    (store,) = run.events("STORE")
    assert run.device.trace("x").header.locations[store.pc] == "kernel.cu:7"


def test_records_are_packed_as_traces_have_them():
    # The event log packs by position.
    assert EVENT_DTYPE.names == (
        "kind", "scope", "strong", "op", "size", "slot", "warp", "warp_count", "sm", "pc",
        "grid_block", "mask", "success_mask", "space", "order", "first_lane",
    )  # fmt: skip
    sizes = [EVENT_DTYPE[name].itemsize for name in EVENT_DTYPE.names]
    assert sizes == [1] * 8 + [4] * 5 + [2] * 2 + [8]


@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize("scheduler", ["in-order", "round-robin", "greedy-then-oldest", "random"])
def test_a_block_sum_equals_numpy_s(scheduler, independent):
    body = """
        mul.wide.u32 %d1, %r34, 4; add.u64 %d1, %d1, %d31; ld.global.f32 %f1, [%d1];
        shl.b32 %r1, %r31, 2; mov.u32 %r2, tile; add.u32 %r3, %r1, %r2; st.shared.f32 [%r3], %f1;
        mov.u32 %r4, 128;
        LOOP: bar.sync 0; shr.u32 %r4, %r4, 1; setp.eq.u32 %p1, %r4, 0; @%p1 bra DONE;
        setp.ge.u32 %p2, %r31, %r4; @%p2 bra LOOP;
        shl.b32 %r5, %r4, 2; add.u32 %r6, %r3, %r5; ld.shared.f32 %f2, [%r6];
        ld.shared.f32 %f3, [%r3]; add.f32 %f3, %f3, %f2; st.shared.f32 [%r3], %f3; bra LOOP;
        DONE: setp.ne.u32 %p3, %r31, 0; @%p3 exit; ld.shared.f32 %f1, [tile];
        atom.global.add.f32 %f2, [%d30], %f1;
    """
    # Whole numbers, so that the order of the sums does not matter.
    data = np.random.default_rng(3).integers(-1000, 1000, 128 * 12).astype(np.float32)
    run = Run(body, outside=".shared .align 4 .b8 tile[512];", grid=12, block=128, data=data,
              scheduler=scheduler, independent_threads=independent)  # fmt: skip
    assert run.out(np.float32)[0] == data.sum()
    assert len(run.events("BARRIER")) == 12 * 8
