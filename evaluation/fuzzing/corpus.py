"""Files that are right, one or more of each kind: what mutation begins with."""

from __future__ import annotations

import json
import tempfile
from importlib.resources import files
from pathlib import Path

from racetrap.golden_model.trace import ThreadTrace, read_trace

GPU_TRACE = b"""\
racetrap-trace 2
system scord
geometry sm_count=2 blocks_per_sm=2 warps_per_sm=4
region data_base=0x10000 size_log2=16
source "corpus"
seed 7
location 0x40 "kernel.cu:12"
events 13
kernel_begin
block_placed sm=0 slot=0 warp=0 warp_count=2 grid_block=40
block_placed sm=1 slot=1 warp=2 warp_count=2 grid_block=41 mask=0xffff
store sm=0 slot=0 warp=1 pc=0x40 size=4 strong device lanes 0:0x10004=0x5 1:0x10008=0x6
fence sm=0 slot=0 warp=1 pc=0x44 device mask=0x3
if sm=1 slot=1 warp=2 pc=0x46 mask=0x3
load sm=1 slot=1 warp=2 pc=0x48 size=4 strong device lanes 3:0x10004
else sm=1 slot=1 warp=2 pc=0x4a mask=0xfffc
fi sm=1 slot=1 warp=2 pc=0x4c
barrier sm=1 slot=1 pc=0x50
block_retired sm=0 slot=0
block_retired sm=1 slot=1
kernel_end
"""
THREAD_TRACE = b"""\
racetrap-trace 2
system sigrace
threads 2
source "corpus"
location 0x10 "program.c:3"
events 15
begin thread=0
create thread=0 pc=0x8 instructions=4 child=1
begin thread=1 pc=0xc instructions=1
store thread=1 pc=0x10 instructions=3 address=0x1000 size=4
load thread=0 pc=0x14 instructions=2 address=0x1000 size=4
acquire thread=0 pc=0x18 instructions=1 address=0x2000 mutex
atomic_update thread=0 pc=0x1c instructions=1 address=0x1008 size=8 acq_rel
release thread=0 pc=0x20 instructions=1 address=0x2000 mutex
barrier_arrive thread=0 pc=0x24 instructions=1 address=0x3000 width=2
barrier_arrive thread=1 pc=0x24 instructions=1 address=0x3000 width=2
barrier_leave thread=0 pc=0x28 instructions=1 address=0x3000 width=2
barrier_leave thread=1 pc=0x28 instructions=1 address=0x3000 width=2
end thread=1 pc=0x2c instructions=1
join thread=0 pc=0x30 instructions=1 child=1
end thread=0 pc=0x34 instructions=1
"""
KERNEL = b"""\
.version 9.0
.target sm_75
.address_size 64
.global .align 4 .u32 counts[4] = {1, 2, 3};
.const .align 8 .f32 grid[2][2] = {{0f3F800000, 1.0}, {2.0}};
.global .align 8 .u64 places[2] = {counts, generic(counts)+4};
.global .align 8 .b8 bytes[16] = {0xFF(counts), 0xFF00(counts), 7};
.func (.param .b32 out) twice(.param .b32 in)
{
	.reg .b32 	%a<2>;
	ld.param.u32 	%a0, [in];
	add.s32 	%a1, %a0, %a0;
	st.param.b32 	[out], %a1;
	ret;
}
.visible .entry kernel(
	.param .u64 data,
	.param .u32 bound
)
{
	.reg .pred 	%p<3>;
	.reg .b32 	%r<8>;
	.reg .b64 	%rd<4>;
	.local .align 16 .b8 frame[16];
	.shared .align 4 .u32 tile[32];
	ld.param.u64 	%rd1, [data];
	ld.param.u32 	%r1, [bound];
	mov.u32 	%r2, %tid.x;
	setp.ge.u32 	%p1, %r2, %r1;
	@%p1 bra 	$L_end;
	{
	.param .b32 argument;
	.param .b32 result;
	st.param.b32 	[argument], %r2;
	call.uni (result), twice, (argument);
	ld.param.b32 	%r3, [result];
	}
	mul.wide.u32 	%rd2, %r2, 4;
	add.s64 	%rd3, %rd1, %rd2;
	st.global.u32 	[%rd3], %r3;
	atom.global.add.u32 	%r4, [%rd1], 1;
	mov.u64 	%rd1, frame;
	st.local.v2.u32 	[%rd1+8], {%r3, %r4};
	bar.sync 	0;
	membar.gl;
$L_end:
	ret;
}
"""
LAUNCH = b"""\
kernel = "kernel"
grid = [2, 1]
block = 64
scheduler = "round-robin"
seed = 3
stall_limit = 10000
instruction_limit = 10000
gpu = { sm_count = 2, blocks_per_sm = 2, warps_per_sm = 8 }

[[arguments]]
buffer = "zeros"
type = "u32"
count = 64

[[arguments]]
value = 40
type = "u32"
"""
SWEEPS = (
    b"""\
name = "scord"
preset = "scord-tiny"
fixed = { banks = 1 }

[grid]
ratio = [1, 4, 16]
lock_depth = [1, 2, 4]
"fence_id_width+barrier_id_width" = [4, 6]

[quality]
workloads = ["concurrency-suite", "R110"]
size = "tiny"
schedules = 1
seed = 1
region_log2 = 10
""",
    b"""\
name = "sigrace"
preset = "sigrace-tiny"

[grid]
k = [4, 8]
"cores+threads" = [2, 4]

[cost]
family = "state"

[quality]
workloads = ["fft"]
""",
)
ARRAY = (
    b"\x93NUMPY\x01\x00v\x00"
    + b"{'descr': '<u4', 'fortran_order': False, 'shape': (64,), }".ljust(117)
    + b"\n"
    + bytes(256)
)


def kernels() -> list[bytes]:
    """PTX texts: one of a compiler, and one that has more of the language."""
    compiled = files("racetrap.sim.gpu.suites.concurrency") / "words.ptx"
    return [KERNEL, compiled.read_bytes()]


def coverage_files() -> list[bytes]:
    """Coverage of a run, as a JSON object and as notes."""
    from racetrap.sim.cosim.scord.coverage_bins import BINS

    counts = dict.fromkeys(list(BINS)[:6], 3)
    notes = [{"system": "scord"}, {"coverage": counts}]
    return [json.dumps(counts).encode(), "\n".join(map(json.dumps, notes)).encode()]


def binary_form(text: bytes) -> list[bytes]:
    """Binary forms of a trace in text form."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "source"), Path(folder, "target")
        source.write_bytes(text)
        trace = read_trace(source)
        trace.write_binary(target)
        forms = [target.read_bytes()]
        if isinstance(trace, ThreadTrace):
            trace.write_binary(target, compress=True)
            forms.append(target.read_bytes())
    return forms
