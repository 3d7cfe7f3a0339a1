"""Small kernels for tests of the executor: PTX around a body, and runs of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import settings

from racetrap.golden_model.events import Event, Geometry
from racetrap.sim.gpu.executor.arithmetic.instruction_set import arithmetic_operation
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.ptx.module import Instruction, Module, Register, Vector
from racetrap.sim.gpu.ptx.parser import parse_ptx

_HEAD = """.version 9.0
.target sm_75
.address_size 64
"""
_KERNEL = """.visible .entry test(.param .u64 p_out, .param .u64 p_in, .param .u32 p_n)
{{
.reg .pred %p<10>;
.reg .b16 %h<10>;
.reg .b32 %r<40>;
.reg .b64 %d<40>;
.reg .f32 %f<10>;
.reg .f64 %g<10>;
ld.param.u64 %d30, [p_out];
ld.param.u64 %d31, [p_in];
ld.param.u32 %r30, [p_n];
mov.u32 %r31, %tid.x;
mov.u32 %r32, %ctaid.x;
mov.u32 %r33, %ntid.x;
mad.lo.u32 %r34, %r32, %r33, %r31;
mul.wide.u32 %d32, %r34, 4;
add.u64 %d33, %d30, %d32;
{body}
ret;
}}
"""

#: Room for a few blocks on each of two SMs.
GEOMETRY = Geometry(sm_count=2, blocks_per_sm=4, warps_per_sm=16)

#: Examples of a property: no limit on the time of one, which a busy machine exceeds.
QUICK = settings(deadline=None, max_examples=50)


def module(body: str, outside: str = "") -> Module:
    """A module with the kernel ``test``.

    Its registers: ``%r31`` thread, ``%r32`` block, ``%r34`` global thread, ``%d30`` and ``%d31``
    the addresses of both buffers, ``%d33`` the thread's word of the first, ``%r30`` a number.
    """
    return parse_ptx(_HEAD + outside + _KERNEL.format(body=body), "test.ptx")


class Run:
    """What a run of the kernel ``test`` left behind."""

    def __init__(
        self,
        body: str,
        *,
        outside: str = "",
        grid: Any = 1,
        block: Any = 32,
        words: int = 64,
        data: np.ndarray | None = None,
        number: int = 0,
        dynamic_shared: int = 0,
        cluster: Any = None,
        device: Device | None = None,
        **options: Any,
    ):
        self.module = module(body, outside)
        self.device = device or Device(options.pop("geometry", GEOMETRY), **options)
        self.address = self.device.allocate(4 * words)
        self.data = self.device.allocate(np.zeros(64, np.uint32) if data is None else data)
        self.words = words
        self.stats = self.device.launch(
            self.module, "test", grid, block, [self.address, self.data, number], dynamic_shared,
            cluster=cluster,
        )  # fmt: skip

    def out(self, dtype: Any = np.uint32) -> np.ndarray:
        """The first buffer."""
        size = np.dtype(dtype).itemsize
        return self.device.read(self.address, dtype, self.words * 4 // size)

    def events(self, *kinds: str) -> list[Event]:
        """Events of the trace, all or those of some kinds."""
        events = list(self.device.trace("test"))
        return [event for event in events if not kinds or event.kind.name in kinds]


def compute(name: str, *sources: Any, two_results: bool = False) -> Any:
    """Result of an arithmetic instruction such as ``add.s32`` on values or arrays."""
    opcode, *modifiers = name.split(".")
    register = Register("%x", "b32")
    result = Vector((register, register)) if two_results else register
    operands = (result, *[register] * len(sources))
    instruction = Instruction(0, opcode, tuple(modifiers), operands, None, False, 1, None)
    operation = arithmetic_operation(instruction)
    assert len(sources) == len(operation.sources), name
    rows = [
        np.atleast_1d(np.array(source)).astype(dtype)
        for source, dtype in zip(sources, operation.sources, strict=True)
    ]
    with np.errstate(all="ignore"):
        found = operation.function(*rows)
    if two_results:
        return tuple(found)
    return np.asarray(found).astype(operation.results[0])
