"""Instructions that a warp runs between its events are counted while it runs."""

from racetrap.golden_model.events import USUAL_GEOMETRY, EventKind
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.ptx.parser import parse_ptx
from racetrap.sim.gpu.timing.instruction_counts import InstructionCounts
from tests.support.gpu.ptx_text import kernel_text

BODY = """
    ld.param.u64 %rd1, [data];
    st.global.u32 [%rd1], 1;
    mov.u32 %r1, 1;
    add.u32 %r2, %r1, 1;
    add.u32 %r3, %r2, 1;
    ld.global.u32 %r4, [%rd1];
    ld.global.u32 %r4, [%rd1];
    ret;
"""


def test_counts_are_of_each_warp():
    instructions = InstructionCounts()
    device = Device(USUAL_GEOMETRY, scheduler="round-robin", wrap=instructions.watch)
    data = device.allocate(64)
    module = parse_ptx(kernel_text(BODY, parameters=".param .u64 data"), "counts.ptx")
    for _ in range(2):
        device.launch(module, "k", 1, 64, [data])
    trace = instructions.trace(device.trace("two launches"))
    for warp in (0, 1):
        accesses = (trace.events["warp"] == warp) & (trace.events["kind"] <= EventKind.ATOMIC)
        assert trace.instructions[accesses].tolist() == [2, 4, 1] * 2
