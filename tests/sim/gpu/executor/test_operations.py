"""Operations of a device for whole programs: freed memory, launches in streams, faults, copies."""

import os

import numpy as np
import pytest

from racetrap.golden_model.events import EventKind
from racetrap.sim.gpu.executor.device import Device, Operation
from racetrap.sim.gpu.executor.machine.errors import ExecutionError, Fault, KernelFault
from racetrap.sim.gpu.executor.machine.memory import HEAP_BASE, HEAP_END, Heap
from racetrap.sim.gpu.ptx.parser import parse_ptx
from tests.support.gpu.ptx_kernels import GEOMETRY, Run, module

_STORE = "st.global.u32 [%d33], %r34;"
_OVERRUN = "add.u64 %d33, %d33, 4096;\nst.global.u32 [%d33], %r34;"


def _kinds(device):
    return [event.kind for event in device.trace("test")]


def test_freed_memory_is_in_no_buffer_and_zero_again():
    heap = Heap()
    address = heap.allocate(3 * 4096 + 10)
    heap.views.raw[address : address + 3 * 4096 + 10] = 7
    heap.free(address)
    assert heap.find(address) is None
    assert not heap.views.raw[address : address + 3 * 4096 + 10].any()
    with pytest.raises(ValueError, match=r"Address .* is not in a buffer"):
        heap.free(address)


def test_freed_addresses_come_again_only_when_none_are_left():
    heap = Heap()
    half = (HEAP_END - HEAP_BASE) // 2 - 4096
    first, second = heap.allocate(half), heap.allocate(half)
    heap.free(first)
    assert heap.allocate(100) > second
    third = heap.allocate(half)
    assert third == first
    assert [buffer.address for buffer in heap.buffers] == sorted(
        buffer.address for buffer in heap.buffers
    )
    with pytest.raises(ExecutionError, match="Buffers need"):
        heap.allocate(half)


def test_alignment():
    heap = Heap()
    heap.allocate(1)
    assert heap.allocate(1, alignment=4096) % 4096 == 0


def test_memory_is_shared_by_a_file():
    descriptor = os.memfd_create("test")
    os.ftruncate(descriptor, HEAP_END)
    device = Device(GEOMETRY, memory_file=descriptor)
    address = device.allocate(np.arange(5000, dtype=np.uint32))
    assert os.pread(descriptor, 8, address + 4) == b"\1\0\0\0\2\0\0\0"
    device.free(address)
    assert os.pread(descriptor, 20000, address) == bytes(20000)
    os.close(descriptor)


def test_streams_and_copies_are_in_the_trace():
    run = Run(_STORE)
    device, loaded = run.device, run.module
    launch = device.prepare(loaded, "test", 1, 32, [run.address, run.data, 0])
    device.run(launch, Operation(stream=3, after=(0,), call=0x80000001))
    device.copy(EventKind.COPY_READ, [(run.address, 8), (run.address + 64, 4)], Operation(5, (1,)))
    events = list(device.trace("test"))
    begins = [event for event in events if event.kind == EventKind.KERNEL_BEGIN]
    afters = [event.grid_block for event in events if event.kind == EventKind.AFTER]
    assert [(event.grid_block, event.pc) for event in begins] == [(0, 0), (3, 0x80000001)]
    assert afters == [0, 1]
    assert events[-1].grid_block == 5
    assert [(lane.address, lane.value) for lane in events[-1].lanes] == [
        (run.address, 8), (run.address + 64, 4),
    ]  # fmt: skip


def test_a_launch_may_leave_no_trace():
    run = Run(_STORE)
    before = run.device.trace("test")
    launch = run.device.prepare(run.module, "test", 1, 32, [run.address, run.data, 0])
    run.device.run(launch, None)
    assert run.device.trace("test") == before


def test_arguments_as_bytes():
    run = Run(_STORE)
    raw = b"".join(number.to_bytes(8, "little") for number in (run.address, run.data))
    run.device.launch(run.module, "test", 1, 32, raw + bytes(4))
    with pytest.raises(ExecutionError, match="Arguments of test must be 20 bytes, not 16"):
        run.device.launch(run.module, "test", 1, 32, raw)


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (_OVERRUN, Fault.ILLEGAL_ADDRESS),
        ("add.u64 %d33, %d33, 1;\nst.global.u32 [%d33], %r34;", Fault.MISALIGNED_ADDRESS),
        ("trap;", Fault.TRAP),
        ("bra LOOP;\nLOOP: bra LOOP;", Fault.NO_END),
    ],
)
def test_what_ran_before_a_fault_is_a_whole_trace(body, fault):
    loaded = module(f"{_STORE}\n{body}")
    device = Device(GEOMETRY, stall_limit=1000)
    arguments = [device.allocate(4096), device.allocate(256), 0]
    with pytest.raises(KernelFault) as caught:
        device.launch(loaded, "test", 1, 64, arguments)
    assert caught.value.fault == fault
    kinds = _kinds(device)  # that it is a trace at all, the trace checks itself
    assert kinds[0] == EventKind.KERNEL_BEGIN
    assert EventKind.STORE in kinds
    assert kinds[-2:] == [EventKind.BLOCK_RETIRED, EventKind.KERNEL_END]


def test_the_trace_says_which_operation_a_fault_has_ended():
    loaded, device = module(_OVERRUN), Device(GEOMETRY)
    arguments = [device.allocate(4096), device.allocate(256), 0]
    device.copy(EventKind.COPY_READ, [(arguments[0], 8)], Operation())
    with pytest.raises(KernelFault):
        device.run(device.prepare(loaded, "test", 1, 64, arguments), None)
    assert device.trace("test").header.faults == {}
    with pytest.raises(KernelFault) as caught:
        device.launch(loaded, "test", 1, 64, arguments)
    rest = "the rest of this launch, of which 0 of 1 blocks had ended, and later launches"
    assert device.trace("test").header.faults == {1: f"{caught.value}; not judged: {rest}"}


def test_blocks_of_a_cooperative_launch_must_all_be_resident():
    device, loaded = Device(GEOMETRY), module("")
    arguments = [device.allocate(4), device.allocate(4), 0]
    most = GEOMETRY.sm_count * GEOMETRY.blocks_per_sm
    device.prepare(loaded, "test", most, 32, arguments, cooperative=True)
    with pytest.raises(ExecutionError, match=f"has {most + 1} blocks, but only {most} fit at once"):
        device.prepare(loaded, "test", most + 1, 32, arguments, cooperative=True)


def test_a_cooperative_launch_has_the_place_of_its_barrier():
    loaded = module(
        "mov.u32 %r1, %envreg1; mov.u32 %r2, %envreg2; st.global.v2.u32 [%d30], {%r1, %r2};"
    )
    device = Device(GEOMETRY)
    arguments = [device.allocate(8), device.allocate(4), 0]
    device.run(device.prepare(loaded, "test", 1, 1, arguments, cooperative=True))
    high, low = device.read(arguments[0], np.uint32, 2).tolist()
    assert device.buffer(high << 32 | low) is not None
    device.run(device.prepare(loaded, "test", 1, 1, arguments))
    assert not device.read(arguments[0], np.uint32, 2).any()


def test_two_modules_need_numbers_of_their_own():
    device, text = Device(GEOMETRY), ".version 9.0\n.target sm_75\n.address_size 64\n"
    text += ".visible .entry k()\n{ ret; }\n"
    device.load(parse_ptx(text, "one"))
    device.load(parse_ptx(text, "two", 1))
    with pytest.raises(ValueError, match="Instructions of three have the numbers of those"):
        device.load(parse_ptx(text, "three"))
