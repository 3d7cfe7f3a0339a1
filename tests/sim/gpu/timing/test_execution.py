"""Kernels executed in simulated time take the cycles of a replay of their trace."""

from dataclasses import replace

import pytest

from racetrap.golden_model.events import USUAL_GEOMETRY
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.ptx.parser import parse_ptx
from racetrap.sim.gpu.timing.execution import Execution
from racetrap.sim.gpu.timing.instruction_counts import InstructionCounts
from racetrap.sim.gpu.timing.params import TimingParams
from racetrap.sim.gpu.timing.replay import Replay
from racetrap.sim.gpu.workloads.registry import WORKLOADS
from tests.support.gpu.ptx_text import kernel_text

_NONE = TimingParams()
_SCORD = replace(_NONE, detects=1, ratio=16, shares_neighbours=1)
#: The first warp of each block waits for the second one's flag in shared memory.
_SHARED_FLAG = """
    .shared .align 4 .b8 flag[4];
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [data];
    setp.ge.u32 %p1, %r1, 32;
    @%p1 bra RAISE;
WAIT:
    ld.volatile.shared.u32 %r2, [flag];
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra WAIT;
    bra.uni END;
RAISE:
    ld.volatile.global.u32 %r3, [%rd1];
    add.u32 %r3, %r3, 1;
    st.volatile.shared.u32 [flag], %r3;
END:
    bar.sync 0;
    ret;
"""


def _region(play):
    device = Device(USUAL_GEOMETRY)
    play(device)
    return device.trace("region", region_log2=0).header.region


def _execute(play, params):
    """Counts of an execution, of a replay of its trace, and the number of its events."""
    with Execution(params, _region(play)) as execution:
        device = Device(USUAL_GEOMETRY, wrap=execution.watch)
        play(device)
        trace = execution.instructions.trace(device.trace("executed", region_log2=0))
        with Replay(trace) as replay:
            return execution.counts, replay.run(params), len(trace)


def _application(name):
    return lambda device: WORKLOADS[name].run(device, "tiny", 1)


def _shared_flag(device):
    module = parse_ptx(kernel_text(_SHARED_FLAG, parameters=".param .u64 data"), "flag.ptx")
    device.launch(module, "k", 2, 64, [device.allocate(64)])


@pytest.mark.parametrize(
    "params", [_NONE, replace(_SCORD, schedule=3)], ids=["none", "ScoRD, later blocks"]
)
def test_an_execution_takes_the_cycles_of_its_replay(params):
    executed, replayed, _ = _execute(_application("RED"), params)
    assert executed == replayed
    assert executed.cycles > 5000


@pytest.mark.campaign
@pytest.mark.parametrize("name", WORKLOADS)
def test_applications_take_the_cycles_of_their_replay(name):
    for params in (_NONE, replace(_NONE, detects=1), _SCORD):
        executed, replayed, _ = _execute(_application(name), params)
        assert executed == replayed


def test_costs_left_out_leave_the_same_execution():
    costless = replace(_SCORD, lhd=0, noc=0, md=0)
    executed, _, events = _execute(_application("1DC"), costless)
    without, _, events_without = _execute(_application("1DC"), _NONE)
    assert (executed, events) == (without, events_without)


def test_a_warp_waits_in_shared_memory_while_time_passes():
    counts, _, _ = _execute(_shared_flag, _NONE)
    assert counts.l2_requests == 2


def test_an_execution_without_its_instructions_differs(monkeypatch):
    monkeypatch.setattr(InstructionCounts, "latest", 1)
    executed, replayed, _ = _execute(_application("1DC"), _NONE)
    assert executed.cycles < replayed.cycles
