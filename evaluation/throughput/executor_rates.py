"""Rate of the executor: thread instructions a second on an ordinary kernel.

The kernel mixes arithmetic, loads, stores and branches that all threads of a warp take alike,
in full warps; recording is on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from racetrap.evaluation.throughput.rates import timed
from racetrap.golden_model.events import USUAL_GEOMETRY
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.ptx.parser import parse_ptx

#: Numbers of threads worth a measurement.
THREADS = (64, 256, 1024, 4096, 16384, 65536)

_WORDS = 1 << 16
_THREADS_PER_BLOCK = 256
#: Thread rounds at least, so that a measurement of few threads is not too short.
_LEAST_ROUNDS = 1 << 18
_FEWEST_ROUNDS = 8

_KERNEL = """
.version 9.0
.target sm_75
.address_size 64
.visible .entry mix(.param .u64 input, .param .u64 output, .param .u32 rounds)
{
    .reg .pred %p<4>;
    .reg .b32 %r<16>;
    .reg .b64 %d<8>;
    .reg .f32 %f<4>;
    ld.param.u64 %d1, [input];
    ld.param.u64 %d2, [output];
    ld.param.u32 %r1, [rounds];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    mul.wide.u32 %d3, %r5, 4;
    add.s64 %d4, %d2, %d3;
    mov.u32 %r6, %r5;
    mov.u32 %r7, 0;
    mov.f32 %f1, 0f00000000;
LOOP:
    shl.b32 %r8, %r6, 13;
    xor.b32 %r6, %r6, %r8;
    shr.u32 %r8, %r6, 17;
    xor.b32 %r6, %r6, %r8;
    mad.lo.s32 %r9, %r7, 32, %r5;
    and.b32 %r9, %r9, 65535;
    mul.wide.u32 %d5, %r9, 4;
    add.s64 %d6, %d1, %d5;
    ld.global.f32 %f2, [%d6];
    add.f32 %f1, %f1, %f2;
    and.b32 %r10, %r7, 1;
    setp.eq.s32 %p1, %r10, 0;
    @%p1 bra EVEN;
    cvt.rn.f32.u32 %f3, %r6;
    mul.f32 %f1, %f1, 0f3F000000;
    add.f32 %f1, %f1, %f3;
    st.global.f32 [%d4], %f1;
EVEN:
    add.s32 %r7, %r7, 1;
    setp.lt.u32 %p2, %r7, %r1;
    @%p2 bra LOOP;
    st.global.f32 [%d4], %f1;
    ret;
}
"""


class ExecutorRun(NamedTuple):
    """One measurement.

    Parameters
    ----------
    thread_instructions, events : int
        Instructions run, counted for each thread, and events recorded.
    seconds : float
        CPU time.
    """

    thread_instructions: int
    events: int
    seconds: float

    @property
    def per_second(self) -> float:
        """Thread instructions a second."""
        return self.thread_instructions / self.seconds


def measure_executor(threads: int, *, independent_threads: bool = False) -> ExecutorRun:
    """Run the kernel once with so many threads, a multiple of 32, in blocks of at most 256."""
    device = Device(USUAL_GEOMETRY, independent_threads=independent_threads)
    block = min(threads, _THREADS_PER_BLOCK)
    source = device.allocate(np.arange(_WORDS, dtype=np.float32))
    target = device.allocate(4 * threads)
    rounds = max(_FEWEST_ROUNDS, _LEAST_ROUNDS // threads)
    module = parse_ptx(_KERNEL, "rates.ptx")
    seconds, stats = timed(
        lambda: device.launch(module, "mix", threads // block, block, [source, target, rounds])
    )
    return ExecutorRun(stats.thread_instructions, stats.events, seconds)
