"""Kernels that log their own accesses, with the executor in the GPU's place: the log's trace is
that of the executor."""

from multiprocessing import Pipe
from threading import Thread

import numpy as np
import pytest

from racetrap.golden_model.events import EventKind
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.executor.machine.errors import ExecutionError, Fault, KernelFault
from racetrap.sim.gpu.instrumented import gpu as gpu_module
from racetrap.sim.gpu.instrumented import log_reader
from racetrap.sim.gpu.instrumented.gpu import InstrumentedLaunches, KernelCall
from racetrap.sim.gpu.instrumented.gpu_process import serve
from racetrap.sim.gpu.instrumented.instrumenter import instrument
from racetrap.sim.gpu.instrumented.sites import SiteKind
from racetrap.sim.gpu.oracle import JUDGE, run_oracle
from racetrap.sim.gpu.ptx.errors import PtxError
from racetrap.sim.gpu.ptx.parser import parse_ptx
from tests.support.gpu.executor_gpu import ExecutorGpu
from tests.support.gpu.ptx_kernels import GEOMETRY, Run

#: All that is logged, by the lanes of one warp together.
_EVERYTHING = (
    ".shared .align 16 .b8 tile[256]; mov.u32 %r1, tile; mov.u32 %r9, dynamic;"
    "mul.wide.u32 %d1, %r31, 8; add.u64 %d2, %d30, %d1; mov.f32 %f1, 0f40490FDB;"
    "st.global.f32 [%d2], %f1; st.global.u8 [%d2+4], %r31; st.global.u16 [%d2+6], 70000;"
    "st.global.v4.u32 [%d30], {%r31, 7, %r33, 0x80000000};"
    "st.global.f64 [%d30], 0d3FF8000000000000;"
    "shl.b32 %r2, %r31, 2; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3+4], -1;"
    "cvt.u64.u32 %d3, %r3; cvta.shared.u64 %d3, %d3; setp.lt.u32 %p1, %r31, 8;"
    "selp.b64 %d4, %d3, %d31, %p1; ld.u32 %r4, [%d4]; st.volatile.u32 [%d4], %r4;"
    "st.shared.u32 [%r9+8], %r31; @%p1 st.global.u32 [%d31+4], %r31; bar.sync 0;"
    "atom.global.cas.b32 %r5, [%d31], %r31, 9; @!%p1 atom.shared.exch.b32 %r5, [tile], %r31;"
    "red.relaxed.gpu.global.add.u32 [%d31+8], 1; membar.gl; fence.acq_rel.cta;"
    "bar.warp.sync 0xfffff;"
    "ld.acquire.gpu.global.u32 %r6, [%d31]; st.release.cta.global.u32 [%d31+12], %r6;"
    "ld.global.u32 %r7, [word+4]; st.global.u32 [word], %r7; mov.u64 %d5, word+4;"
    "atom.add.u32 %r8, [%d5], 3; ld.const.u32 %r8, [fixed]; st.global.u32 [%d33], %r8;"
    "barrier.red.popc.u32 %r8, 1, %p1; @%p1 exit;"
)
_OUTSIDE = (
    ".global .align 4 .u32 word[2] = {5, 6}; .const .align 4 .u32 fixed = 11;"
    ".extern .shared .align 8 .b8 dynamic[];"
)  # fmt: skip
_WRITE = "setp.eq.u32 %p1, %r31, 0; @%p1 st.global.u32 [%d30], 1;"
_READ = "ld.global.u32 %r1, [%d30];"
_FLAG = (
    "setp.lt.u32 %p1, %r31, 32; @%p1 bra FIRST; WAIT: ld.{order}.gpu.u32 %r1, [%d31];"
    "setp.eq.u32 %p2, %r1, 0; @%p2 bra WAIT; ld.global.u32 %r2, [%d30]; bra END;"
    "FIRST: setp.ne.u32 %p3, %r31, 0; @%p3 exit; st.global.u32 [%d30], 1;"
    "st.release.gpu.u32 [%d31], 1; END:"
)
#: Kernels of two warps, and whether they race.
_PAIRS = {
    "barrier": (f"{_WRITE} bar.sync 0; {_READ}", False), "no barrier": (_WRITE + _READ, True),
    "atomics": ("red.global.add.u32 [%d30], 1;", False),
    "acquire": (_FLAG.format(order="acquire"), False),
    "relaxed": (_FLAG.format(order="relaxed"), True),
}  # fmt: skip
#: Each lane keeps what the atomic has returned, and leaves its own number.
_CHAIN = "add.u32 %r1, %r34, 1; atom.global.exch.b32 %r2, [%d31], %r1; st.global.u32 [%d33], %r2;"


def _logged(body, *, units=1 << 14, gpu=None, **options):
    settings = {key: options.pop(key) for key in ("scheduler", "seed") if key in options}
    machine = InstrumentedLaunches(gpu or ExecutorGpu(GEOMETRY, **settings), units)
    return Run(body, machine=machine, independent_threads=True, **options)


def _races(run):
    found = run_oracle(run.device.trace("test"), JUDGE, True).races
    return {frozenset((race.first.pc, race.second.pc)) for race in found}


def test_log_of_everything_is_the_executor_s_trace():
    options = {"outside": _OUTSIDE, "block": 20, "dynamic_shared": 64}
    own, logged = (
        Run(_EVERYTHING, independent_threads=True, **options),
        _logged(_EVERYTHING, **options),
    )
    for mine, theirs in zip(own.events(), logged.events(), strict=True):
        assert theirs == mine
    assert logged.out().tolist() == own.out().tolist()
    kinds = {event.kind for event in own.events()}
    assert kinds >= {EventKind.ATOMIC, EventKind.FENCE, EventKind.BARRIER, EventKind.WARP_BARRIER}


@pytest.mark.parametrize("name", _PAIRS)
def test_races_of_the_log_are_those_of_the_trace(name):
    body, is_racy = _PAIRS[name]
    for scheduler in ("in-order", "newest-first"):
        own = Run(body, block=64, independent_threads=True, scheduler=scheduler)
        logged = _logged(body, block=64, scheduler=scheduler)
        assert _races(logged) == _races(own)
        assert bool(_races(logged)) == is_racy


def test_shared_variables_are_found_whichever_block_begins(monkeypatch):
    """On a GPU their addresses are not the executor's, and the first block may be a late one."""
    body = (
        ".shared .align 4 .b8 tile[256]; mov.u32 %r1, tile; shl.b32 %r2, %r31, 2;"
        "add.u32 %r2, %r1, %r2; st.shared.u32 [%r2], %r31; bar.sync 0; ld.shared.u32 %r3, [%r2];"
    )
    taken = log_reader.records

    def late(units, launch, sites):
        for each in sorted(taken(units, launch, sites), key=lambda record: -record.block):
            lanes = each.lanes.copy()
            lanes["row"]["address"] += lanes["tag"] >> 8 << 10
            is_variable = sites[each.site].kind is SiteKind.SHARED_VARIABLE
            yield each._replace(lanes=lanes, number=each.number + 1024 * is_variable)

    own = Run(body, independent_threads=True, grid=2, block=64)
    monkeypatch.setattr(log_reader, "records", late)
    logged = _logged(body, grid=2, block=64)
    accesses = [
        sorted((each.kind, each.grid_block, lane) for each in run.events() for lane in each.lanes)
        for run in (own, logged)
    ]
    assert accesses[0] == accesses[1]


def _is_chain(run):
    """Whether each atomic of the log has returned what the one before has left."""
    returned, last = run.out(), 0
    for event in run.events("ATOMIC"):
        for lane in event.lanes:
            if int(returned[lane.value - 1]) != last:
                return False
            last = lane.value
    return True


def _chained(seed):
    return _logged(_CHAIN, grid=4, block=64, words=512, scheduler="random", seed=seed)


@pytest.mark.parametrize("seed", range(2))
def test_atomics_are_logged_in_the_order_of_memory(seed):
    assert _is_chain(_chained(seed))


@pytest.mark.parametrize("seed", range(2))
def test_without_the_lock_they_are_not(seed, monkeypatch):
    def unlocked(*arguments):
        done = instrument(*arguments)
        text = done.text.replace("racetrap_enter, (racetrap_0)", "racetrap_leave, (racetrap_0)")
        return done._replace(text=text)

    monkeypatch.setattr(gpu_module, "instrument", unlocked)
    assert not _is_chain(_chained(seed))


def test_full_log_ends_the_kernel_and_is_judged_so_far():
    machine = InstrumentedLaunches(ExecutorGpu(GEOMETRY), 64)
    device = Device(GEOMETRY, machine=machine, independent_threads=True)
    text = (
        ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry poll(.param .u64 p) {\n"
        ".reg .b64 %d; .reg .b32 %r; .reg .pred %q;\nld.param.u64 %d, [p];\n"
        "WAIT: ld.volatile.global.u32 %r, [%d]; setp.eq.u32 %q, %r, 0; @%q bra WAIT; ret; }\n"
    )
    place = device.allocate(np.zeros(4, np.uint32))
    with pytest.raises(KernelFault, match="poll") as caught:
        device.launch(parse_ptx(text, "poll.ptx"), "poll", 1, 1, [place])
    assert caught.value.fault is Fault.NO_END
    trace = device.trace("poll")
    assert 20 < len(trace) < 64
    assert list(trace.header.faults) == [0]
    assert "0 of 1 blocks had ended" in trace.header.faults[0]


def test_what_cannot_be_logged_is_refused_with_its_line():
    with pytest.raises(PtxError, match=r"^test\.ptx:\d+: Instruction cp\.async"):
        _logged("cvta.to.shared.u64 %d1, %d31;\ncp.async.ca.shared.global [%d1], [%d31], 4;")
    with pytest.raises(PtxError, match=r"^test\.ptx:\d+: Instruction ld\.shared::cluster"):
        _logged("ld.shared::cluster.u32 %r1, [%r31];")
    with pytest.raises(ExecutionError, match="clusters"):
        _logged("", grid=2, cluster=2)
    with pytest.raises(PtxError, match=r"6\.2"):
        instrument(parse_ptx(".version 6.1\n.target sm_70\n.address_size 64\n", "old.ptx"), {})


def test_requests_to_the_process_of_a_gpu_are_answered():
    own, other = Pipe()
    server = Thread(target=serve, args=(other, lambda: ExecutorGpu(GEOMETRY)))
    server.start()
    text = ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k() { trap; }\n"
    replies = []
    for request in (
        ("geometry", ()), ("load", ([text], 32)), ("allocate", (64,)), ("symbol", (None, "x")),
    ):  # fmt: skip
        if request[0] == "symbol":
            call = KernelCall("k", (1, 1, 1), (1, 1, 1), 0, False, ())
            request = "launch", (replies[1][0], call)
        own.send(request)
        replies.append(own.recv())
    own.close()
    server.join()
    assert replies[0][0] == GEOMETRY
    assert replies[2][1] is None
    assert replies[3][1].fault is Fault.TRAP
