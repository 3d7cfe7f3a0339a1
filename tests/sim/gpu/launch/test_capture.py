"""Kernel files and launches to traces: arguments of every type reach the kernel."""

from pathlib import Path

import numpy as np
import pytest

from racetrap.golden_model.events import EventKind
from racetrap.sim.gpu.executor.cluster_shape import ClusterError
from racetrap.sim.gpu.executor.machine.errors import ExecutionError
from racetrap.sim.gpu.launch.capture import capture
from racetrap.sim.gpu.launch.kernel_source import is_kernel_file, read_kernel_file
from racetrap.sim.gpu.launch.launch_arguments import ELEMENT_TYPES
from racetrap.sim.gpu.launch.launch_file import read_launch
from racetrap.sim.gpu.ptx.errors import PtxError
from racetrap.sim.gpu.ptx.parser import parse_ptx
from racetrap.sim.toml_file import TomlError
from tests.support.gpu.ptx_text import kernel_text

#: Copies element (thread of block, block) of the first buffer to the second, and adds a scalar.
_COPY = """
    ld.param.u64 %rd1, [k_in]; ld.param.u64 %rd2, [k_out]; ld.param.{kind} %x1, [k_more];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
    mad.lo.s32 %r4, %r2, %r3, %r1; mul.wide.u32 %rd3, %r4, {size};
    add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3;
    ld.global.{kind} %x2, [%rd1]; {add} st.global.{kind} [%rd2], %x2; ret;
"""


def _launch(folder: Path, arguments: str, more: str = ""):
    path = folder / "launch.toml"
    path.write_text(f'kernel = "k"\ngrid = 2\nblock = 4\n{more}\n{arguments}')
    return read_launch(path)


@pytest.mark.parametrize("kind", ELEMENT_TYPES)
def test_arguments_reach_the_kernel(tmp_path, kind):
    size = ELEMENT_TYPES[kind].itemsize
    add = f"add.{kind} %x2, %x2, %x1;" if size > 1 else "add.s16 %x2, %x2, %x1;"
    body = f".reg .{kind if size > 1 else 'b16'} %x<3>;" + _COPY.format(
        kind=kind, size=size, add=add
    )
    parameters = f".param .u64 k_in, .param .u64 k_out, .param .{kind} k_more"
    module = parse_ptx(kernel_text(body, parameters=parameters), "k.ptx")
    data = np.arange(8).astype(ELEMENT_TYPES[kind]) + 3
    np.save(tmp_path / "in.npy", data)
    arguments = f"""
        [[arguments]]
        buffer = "in.npy"
        [[arguments]]
        buffer = "zeros"
        type = "{kind}"
        count = 9
        [[arguments]]
        value = {-2 if kind[0] != "u" else 2}
        type = "{kind}"
    """
    captured = capture(module, _launch(tmp_path, arguments))
    more = -2 if kind[0] != "u" else 2
    assert captured.buffers[1].dtype == ELEMENT_TYPES[kind]
    assert captured.buffers[1].tolist() == [*(data + more).tolist(), 0]
    assert captured.buffers[0].tolist() == data.tolist()
    assert captured.stats.blocks == 2
    kinds = [event.kind for event in captured.trace]
    assert (kinds.count(EventKind.LOAD), kinds.count(EventKind.STORE)) == (2, 2)


_TWO_BUFFERS = '[[arguments]]\nbuffer = "random"\ntype = "u32"\ncount = 50\n' * 2


def test_random_buffers_follow_from_the_seed(tmp_path):
    parameters = ".param .u64 a, .param .u64 b"
    module = parse_ptx(kernel_text("ret;", parameters=parameters), "k.ptx")
    runs = [
        capture(module, _launch(tmp_path, _TWO_BUFFERS, f"seed = {seed}")).buffers
        for seed in (1, 1, 2)
    ]
    assert (runs[0][0] == runs[1][0]).all()
    assert (runs[0][0] != runs[2][0]).any()
    assert (runs[0][0] != runs[0][1]).any()


def test_kernel_without_memory_accesses(tmp_path):
    module = parse_ptx(kernel_text("add.u32 %r1, %r1, 1; ret;"), "k.ptx")
    captured = capture(module, _launch(tmp_path, "arguments = []"))
    assert captured.buffers == {}
    assert not len(captured.trace.lanes)
    assert captured.trace.header.source == "k.ptx k"


def test_blocks_of_a_cooperative_launch_are_all_there(tmp_path):
    """The executor gives them a word to wait with; a grid that does not fit is refused."""
    body = "mov.u32 %r1, %envreg2; st.global.u32 [%rd1], %r1; ret;"
    body = f"ld.param.u64 %rd1, [a]; {body}"
    module = parse_ptx(kernel_text(body, parameters=".param .u64 a"), "k.ptx")
    arguments = '[[arguments]]\nbuffer = "zeros"\ntype = "u32"\ncount = 1\n'
    words = [
        capture(module, _launch(tmp_path, arguments, more)).buffers[0][0]
        for more in ("", "cooperative = true")
    ]
    assert words[0] == 0 < words[1]
    small = "cooperative = true\ngpu = {sm_count = 1, blocks_per_sm = 1}"
    with pytest.raises(ExecutionError, match="Cooperative launch has 2 blocks"):
        capture(module, _launch(tmp_path, arguments, small))


def test_clusters_of_a_launch(tmp_path):
    body = "ld.param.u64 %rd1, [a]; mov.u32 %r1, %cluster_nctarank; st.global.u32 [%rd1], %r1; ret;"
    module = parse_ptx(kernel_text(body, parameters=".param .u64 a"), "k.ptx")
    arguments = '[[arguments]]\nbuffer = "zeros"\ntype = "u32"\ncount = 1\n'
    words = [
        capture(module, _launch(tmp_path, arguments, more)).buffers[0][0]
        for more in ("", "cluster = 2", "cluster = [1, 1]")
    ]
    assert words == [1, 2, 1]
    with pytest.raises(ClusterError, match="must be of whole clusters of 4 blocks, not 2"):
        capture(module, _launch(tmp_path, arguments, "cluster = 4"))


def test_launch_that_does_not_fit(tmp_path):
    module = parse_ptx(kernel_text("ret;", name="other"), "k.ptx")
    with pytest.raises(TomlError, match="kernel must be one of other, not k"):
        capture(module, _launch(tmp_path, "arguments = []"))


def test_unknown_instruction_before_the_run(tmp_path):
    module = parse_ptx(kernel_text("ret;\nfrobnicate.u32 %r1, %r2;"), "k.ptx")
    with pytest.raises(PtxError, match=r"^k\.ptx:9: .*frobnicate\.u32"):
        capture(module, _launch(tmp_path, "arguments = []"))


def test_kernel_files(tmp_path):
    assert [is_kernel_file(f"a/b.{end}") for end in ("cu", "ptx", "trace", "txt")] == [
        True, True, False, False,
    ]  # fmt: skip
    with pytest.raises(ValueError, match=r"Kernel file must end in \.cu or \.ptx, not k\.cpp"):
        read_kernel_file("k.cpp")
    with pytest.raises(FileNotFoundError):
        read_kernel_file(tmp_path / "k.ptx")
    (tmp_path / "k.ptx").write_text(kernel_text("ret;"))
    assert read_kernel_file(tmp_path / "k.ptx").name == "k.ptx"


_OVERRUN = "ld.param.u64 %rd1, [k_p]; st.global.u32 [%rd1+4096], 7; ret;"


@pytest.mark.parametrize("guard", [0, 8192])
def test_guard_zone_catches_what_another_buffer_would_take(tmp_path, guard):
    module = parse_ptx(kernel_text(_OVERRUN, parameters=".param .u64 k_p"), "k.ptx")
    buffer = f'type = "u32"\nbuffer = "zeros"\nguard = {guard}\n'
    arguments = (
        'arguments = [{ pointer = "small" }]\n'
        f'[[buffers]]\nname = "small"\ncount = 4\n{buffer}'
        f'[[buffers]]\nname = "large"\ncount = 4096\n{buffer}'
    )
    captured = capture(module, _launch(tmp_path, arguments))
    assert ("must be inside a buffer" in str(captured.fault)) == bool(guard)
    assert captured.buffers["large"].max() == (0 if guard else 7)


def test_other_schedules_have_the_same_inputs(tmp_path):
    module = parse_ptx(kernel_text("ret;", parameters=".param .u64 k_p"), "k.ptx")
    launch = _launch(tmp_path, '[[arguments]]\nbuffer = "random"\ntype = "u32"\ncount = 9')
    first, second = (capture(module, launch, schedule).buffers[0] for schedule in (0, 1))
    assert first.tolist() == second.tolist()


@pytest.mark.parametrize("counts", [True, False])
def test_instructions_are_counted_if_the_launch_says_so(tmp_path, counts):
    launch = _launch(tmp_path, "arguments = []", f"count_instructions = {str(counts).lower()}")
    body = "mov.u32 %r1, 1; add.u32 %r1, %r1, 1; membar.gl; membar.gl; ret;"
    trace = capture(parse_ptx(kernel_text(body), "k.ptx"), launch).trace
    fences = trace.events["kind"] == EventKind.FENCE
    assert trace.instructions[fences].tolist() == ([3, 3, 1, 1] if counts else [0] * 4)
    assert trace.totals == ({"instructions": 10} if counts else {})
