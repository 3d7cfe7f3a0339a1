"""Launches: blocks on slots, dimensions, counts, and launches that cannot be or cannot end."""

import re
from contextlib import contextmanager

import numpy as np
import pytest

from racetrap.golden_model.events import Geometry
from racetrap.golden_model.ptx_memory_model.operational import InOrder
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.executor.machine import launch
from racetrap.sim.gpu.executor.machine.block_scheduler import SHARED_BYTES_PER_SM
from racetrap.sim.gpu.executor.machine.errors import ExecutionError, Fault, KernelFault
from racetrap.sim.gpu.executor.machine.event_log import is_sampled
from racetrap.sim.gpu.executor.machine.weak_memory import MEMORY_MODELS, WeakMemorySettings
from racetrap.sim.gpu.ptx.scopes import SPECIAL_REGISTERS
from tests.support.gpu.ptx_kernels import GEOMETRY, Run, module

STORE = "st.global.u32 [%d33], %r34;"


def placements(run):
    return [
        (event.grid_block, event.sm, event.slot, event.warp) for event in run.events("BLOCK_PLACED")
    ]


def most_resident(run):
    resident, most = {}, {}
    for event in run.events("BLOCK_PLACED", "BLOCK_RETIRED"):
        change = 1 if event.kind.name == "BLOCK_PLACED" else -1
        resident[event.sm] = resident.get(event.sm, 0) + change
        most[event.sm] = max(most.get(event.sm, 0), resident[event.sm])
    return most


def test_blocks_are_spread_over_sms_and_replaced():
    run = Run(STORE, grid=20, block=64, words=2000)
    assert placements(run)[:4] == [(0, 0, 0, 0), (1, 1, 0, 0), (2, 0, 1, 2), (3, 1, 1, 2)]
    assert most_resident(run) == {0: 4, 1: 4}
    assert sorted(block for block, *_ in placements(run)) == list(range(20))
    assert (run.out()[:1280] == np.arange(1280)).all()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"block": 8 * 32}, 2), ({"block": 9 * 32}, 1), ({"block": 32}, 4),
        ({"dynamic_shared": SHARED_BYTES_PER_SM // 3}, 3),
        ({"dynamic_shared": SHARED_BYTES_PER_SM}, 1),
    ],
)  # fmt: skip
def test_slots_warps_and_shared_memory_limit_blocks(options, expected):
    run = Run(STORE, grid=10, words=4000, **options)
    assert most_resident(run) == {0: expected, 1: expected}


def test_three_dimensions_and_partial_warps():
    body = """
        mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;
        mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ctaid.z;
        mov.u32 %r7, %ntid.x; mov.u32 %r8, %ntid.y; mov.u32 %r9, %ntid.z;
        mov.u32 %r10, %nctaid.x; mov.u32 %r11, %nctaid.y;
        mad.lo.u32 %r12, %r6, %r11, %r5; mad.lo.u32 %r12, %r12, %r10, %r4;
        mad.lo.u32 %r12, %r12, %r9, %r3; mad.lo.u32 %r12, %r12, %r8, %r2;
        mad.lo.u32 %r12, %r12, %r7, %r1;
        mul.wide.u32 %d1, %r12, 4; add.u64 %d1, %d1, %d30;
        mad.lo.u32 %r13, %r3, 100, %r1; mad.lo.u32 %r13, %r2, 10, %r13;
        mad.lo.u32 %r14, %r6, 100, %r4; mad.lo.u32 %r14, %r5, 10, %r14;
        mad.lo.u32 %r13, %r14, 1000, %r13; st.global.u32 [%d1], %r13;
    """
    run = Run(body, grid=(2, 3, 2), block=(5, 3, 3), words=12 * 45)
    expected = [
        1000 * (100 * c + 10 * b + a) + 100 * z + 10 * y + x
        for c in range(2) for b in range(3) for a in range(2)
        for z in range(3) for y in range(3) for x in range(5)
    ]  # fmt: skip
    assert run.out().tolist() == expected
    assert [event.mask for event in run.events("BLOCK_PLACED")] == [0x1FFF] * 12
    for event in run.events("BLOCK_PLACED"):
        assert event.warp_count == 2


def test_registers_begin_with_zero_in_every_block():
    run = Run(f"add.u32 %r1, %r1, %r34; {STORE.replace('%r34', '%r1')}", grid=30, words=960)
    assert (run.out() == np.arange(960)).all()


def test_special_registers():
    body = "mov.u32 %r1, %{}; st.global.u32 [%d33], %r1;"
    lanes = np.arange(32)

    def read(name):
        return Run(body.format(name), block=64, words=64).out()[32:].tolist()

    assert read("laneid") == lanes.tolist()
    assert read("lanemask_lt") == [(1 << lane) - 1 for lane in range(32)]
    assert read("lanemask_ge") == [0xFFFFFFFF & ~((1 << lane) - 1) for lane in range(32)]
    assert read("warpid") == [1] * 32
    assert read("nsmid") == [2] * 32
    run = Run(
        "mov.u64 %d1, %clock64; add.u32 %r1, %r1, 1; st.global.u32 [%d30], %r1;"
        "mov.u64 %d2, %clock64; sub.u64 %d1, %d2, %d1; st.global.u64 [%d30], %d1;"
    )
    assert run.out(np.uint64)[0] > 0


@pytest.mark.parametrize("name", SPECIAL_REGISTERS)
def test_every_special_register_has_a_value(name):
    wide = name in ("%clock64", "%globaltimer")
    Run(f"mov.u64 %d1, {name};" if wide else f"mov.u32 %r1, {name};")


def test_a_kernel_without_memory_accesses():
    run = Run("add.u32 %r1, %r31, 1;", grid=3, block=48)
    kinds = [event.kind.name for event in run.events()]
    assert kinds[:4] == ["KERNEL_BEGIN", *["BLOCK_PLACED"] * 3]
    assert sorted(kinds[4:-1]) == ["BLOCK_RETIRED"] * 3 + ["EXIT"] * 6
    assert kinds[-1] == "KERNEL_END"
    assert run.stats.blocks == 3
    assert run.stats.events == len(run.events())


def test_counts_of_instructions():
    run = Run("setp.lt.u32 %p1, %r31, 8; @%p1 bra LOW; mov.u32 %r1, 1; LOW: mov.u32 %r2, 2;",
              block=32)  # fmt: skip
    # Nine of the frame, four for all, one for 24 lanes.
    assert run.stats.warp_instructions == 9 + 5
    assert run.stats.thread_instructions == 32 * (9 + 4) + 24


@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize(
    "scheduler", ["in-order", "round-robin", "greedy-then-oldest", "newest-first", "random"]
)
@pytest.mark.parametrize(
    ("spin", "why", "state"),
    [
        *((spin, "every warp waits, or polls", "waits for a change of what it polls")
          for spin in (
            "atom.global.cas.b32 %r1, [%d31], 1, 0;", "ld.volatile.global.u32 %r1, [%d31];",
            "atom.global.exch.b32 %r1, [%d31], 0;",
        )),
        *((spin, "no progress in 3000 instructions", "runs")
          for spin in ("st.global.u32 [%d33], 0;", "add.u32 %r1, %r1, 1;",
                       "ld.volatile.global.u32 %r1, [%d31]; add.u32 %r2, %r2, 1;")),
    ],
)  # fmt: skip
def test_a_never_ending_loop(spin, why, state, scheduler, independent):
    with pytest.raises(ExecutionError) as error:
        Run(f"SPIN: {spin} bra SPIN;", grid=2, block=64, words=128, scheduler=scheduler,
            stall_limit=3000, independent_threads=independent)  # fmt: skip
    head, *lines = str(error.value).splitlines()
    assert re.match(f"Kernel test does not end: .* livelock: {why}", head)
    assert len(lines) == 4
    for line in lines:
        assert f"lanes 0xffffffff, {state}" in line


def test_a_never_ending_loop_after_some_progress():
    with pytest.raises(ExecutionError, match="waits for barrier 0"):
        Run("setp.lt.u32 %p1, %r31, 32; @%p1 exit; bar.sync 0; setp.ge.u32 %p2, %r31, 64;"
            "SPIN: @%p2 bra SPIN; bar.sync 0;", block=96, stall_limit=500)  # fmt: skip


@pytest.mark.parametrize(
    "change", ["st.global.u32 [%d33], %r1;", "atom.global.add.u32 %r2, [%d31], 1;"]
)
def test_changes_of_memory_are_progress(change):
    run = Run(f"mov.u32 %r1, 0; LOOP: add.u32 %r1, %r1, 1; {change}"
              "setp.lt.u32 %p1, %r1, 2000; @%p1 bra LOOP;", stall_limit=500)  # fmt: skip
    assert run.stats.warp_instructions > 8000


#: Registers of clocks, the bits of each, and the time that a loop of the test waits for.
CLOCKS = [
    ("clock", 32, 20_000_000), ("clock", 32, 2**31 - 1), ("globaltimer_lo", 32, 1_000_000),
    ("clock64", 64, 20_000_000), ("globaltimer", 64, 10**10), ("clock_hi", 32, 2),
]  # fmt: skip


def _wait(clock, bits, ticks):
    letter = "r" if bits == 32 else "d"
    return (
        f"mov.u{bits} %{letter}1, %{clock}; WAIT: mov.u{bits} %{letter}2, %{clock};"
        f"sub.u{bits} %{letter}2, %{letter}2, %{letter}1;"
        f"setp.lt.u{bits} %p1, %{letter}2, {ticks}; @%p1 bra WAIT;"
    )


@pytest.mark.parametrize(
    "scheduler", ["in-order", "round-robin", "greedy-then-oldest", "newest-first", "random"]
)
@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize(("clock", "bits", "ticks"), CLOCKS)
def test_a_loop_that_waits_for_a_clock_ends(clock, bits, ticks, independent, scheduler):
    run = Run(
        f"{_wait(clock, bits, ticks)} st.global.u32 [%d33], 1;", grid=2, block=64, words=128,
        scheduler=scheduler, independent_threads=independent, stall_limit=300,
    )  # fmt: skip
    assert (run.out() == 1).all()


@pytest.mark.parametrize(
    "scheduler", ["in-order", "round-robin", "greedy-then-oldest", "newest-first", "random"]
)
@pytest.mark.parametrize("clock", ["clock64", "globaltimer"])
def test_other_warps_go_on_while_one_reads_a_clock(clock, scheduler):
    run = Run(
        f"setp.lt.u32 %p1, %r31, 32; @!%p1 bra SET; WAIT: mov.u64 %d1, %{clock};"
        "ld.global.u32 %r1, [%d31]; setp.eq.u32 %p2, %r1, 0; @%p2 bra WAIT; exit;"
        "SET: st.global.u32 [%d31], 1;", block=64, scheduler=scheduler,
    )  # fmt: skip
    assert run.stats.warp_instructions < 1000


def test_a_loop_that_reads_a_clock_but_waits_for_what_never_comes_is_a_livelock():
    with pytest.raises(ExecutionError, match="livelock"):
        Run("WAIT: mov.u64 %d1, %clock64; ld.volatile.global.u32 %r1, [%d31];"
            "setp.eq.u32 %p1, %r1, 0; @%p1 bra WAIT;", stall_limit=300)  # fmt: skip


@pytest.mark.parametrize("clock", ["clock64", "globaltimer"])
def test_clocks_advance_within_a_run_of_arithmetic_and_from_launch_to_launch(clock):
    body = (
        f"mov.u64 %d1, %{clock}; mov.u64 %d2, %{clock}; add.u32 %r1, %r1, 1;"
        f"mov.u64 %d3, %{clock}; sub.u64 %d4, %d2, %d1; sub.u64 %d5, %d3, %d2;"
        "st.global.u64 [%d30], %d1; st.global.u64 [%d30+8], %d4; st.global.u64 [%d30+16], %d5;"
    )
    run = Run(body)
    start, *gaps = run.out(np.uint64)[:3].tolist()
    run.device.launch(run.module, "test", 1, 32, [run.address, run.data, 0])
    again, *same_gaps = run.out(np.uint64)[:3].tolist()
    assert gaps == same_gaps == [1, 2]
    assert again - start == run.stats.warp_instructions


#: Bodies that would go on for very long, and the limit that stops each.
RUNAWAYS = [
    ("LOOP: atom.global.add.u32 %r1, [%d31], 1; bra LOOP;", 2, {"instruction_limit": 5000}),
    ("LOOP: atom.global.add.u32 %r1, [%d31], 1; bra LOOP;", 2, {"event_limit": 500}),
    ("LOOP: mov.u64 %d1, %clock64; bra LOOP;", 2, {"stall_limit": 300}),
    ("st.global.u32 [%d30], 1;", 2**31 - 1, {"event_limit": 500}),
    ("st.global.u32 [%d30], 1;", (2**31 - 1, 65535, 65535), {"instruction_limit": 5000}),
    ("", (2**31 - 1, 65535, 65535), {"event_limit": 500}),
]  # fmt: skip


@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize(("body", "grid", "limit"), RUNAWAYS)
def test_what_runs_away_is_given_up_and_has_a_trace(body, grid, limit, independent):
    loaded = module(body)
    device = Device(GEOMETRY, independent_threads=independent, **limit)
    arguments = [device.allocate(64), device.allocate(64), 0]
    with pytest.raises(KernelFault) as error:
        device.launch(loaded, "test", grid, 32, arguments)
    assert error.value.fault is Fault.NO_END
    trace = device.trace("test")
    if "event_limit" in limit:
        assert 500 < len(trace) < 600
        assert "500 events (event_limit)" in str(error.value)
    (sentence,) = trace.header.faults.values()
    head, *lines = str(error.value).split("\n")
    assert sentence.startswith(f"{head}; not judged: the rest of this launch, of which ")
    assert sentence.split("\n")[1:] == lines


def test_a_launch_reports_while_it_runs_and_not_before(monkeypatch):
    monkeypatch.setattr(launch, "_REPORT_INTERVAL", 100)
    reported = []

    @contextmanager
    def watch(running):
        reported.append("begin")
        yield lambda: reported.append((running.executed, running.ended_blocks))
        reported.append("end")

    Run("", watch=watch)
    assert reported == ["begin", "end"]
    reported.clear()
    run = Run("", grid=200, watch=watch)
    first, *reports, last = reported
    assert (first, last) == ("begin", "end")
    assert reports == sorted(reports)
    assert run.stats.warp_instructions // 110 <= len(reports) <= run.stats.warp_instructions // 100
    assert 0 < reports[-1][1] <= run.stats.blocks == 200


def test_threads_of_a_memory_model_are_limited():
    settings = WeakMemorySettings(MEMORY_MODELS["views"], InOrder())
    device = Device(GEOMETRY, memory=settings)
    arguments = [device.allocate(64), device.allocate(64), 0]
    with pytest.raises(ExecutionError, match=r"has 2147483647 threads, but .* at most 1048576"):
        device.prepare(module(""), "test", 2**31 - 1, 32, arguments)


def test_reports_are_cut():
    with pytest.raises(ExecutionError, match=r"and 16 more\n  172 blocks not placed yet$"):
        Run("SPIN: bra SPIN;", grid=252, block=32, stall_limit=500,
            geometry=Geometry(10, 8, 8))  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grid": 0}, "Grid must be one to three numbers of at least 1, not 0"),
        ({"block": (1, 2, 3, 4)}, r"Block must be one to three numbers of at least 1, not \(1, 2"),
        ({"block": (64, 32)}, "Block must have at most 1024 threads, not 2048"),
        ({"block": 17 * 32}, "Warps of a block must be at most 16, .*, not 17"),
        ({"dynamic_shared": 10**6}, "Shared memory of a block must be at most 98304 bytes, not"),
        ({"dynamic_shared": -1}, "Dynamic shared memory must be 0 bytes or more, not -1"),
    ],
)
def test_launches_that_cannot_be(options, message):
    with pytest.raises((ValueError, ExecutionError), match=message):
        Run(STORE, **options)


def test_kernels_and_arguments_must_be_the_module_s():
    device, loaded = Device(GEOMETRY), module("")
    with pytest.raises(ExecutionError, match=r"Unknown kernel of test.ptx 'other': choose test"):
        device.launch(loaded, "other", 1, 1, [])
    with pytest.raises(ExecutionError, match="Arguments of test must be 3, not 2"):
        device.launch(loaded, "test", 1, 1, [0, 0])
    with pytest.raises(ExecutionError, match="Argument p_n must be 4 bytes, not 3"):
        device.launch(loaded, "test", 1, 1, [0, 0, b"abc"])


def test_a_trap_names_its_thread():
    with pytest.raises(
        ExecutionError,
        match=r":\d+: Kernel reached trap \(thread \(5, 0, 0\) of block \(1, 0, 0\)",
    ):
        Run("setp.eq.u32 %p1, %r34, 37; @%p1 trap;", grid=2)


@pytest.mark.parametrize(("share", "sampled"), [(1.0, 10), (0.5, 6), (0.2, 2), (0.01, 2)])
def test_samples_are_pairs_of_neighbours(share, sampled):
    blocks = [block for block in range(10) if is_sampled(block, share)]
    assert len(blocks) == sampled
    assert {block ^ 1 for block in blocks} == set(blocks)
