"""Compilation of kernels: forms of code, and instructions that are refused before a run."""

import pytest

from racetrap.sim.gpu.executor.codegen.compiler import compile_kernel
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.ptx.errors import PtxError
from tests.support.gpu.ptx_kernels import GEOMETRY, Run, module


@pytest.mark.parametrize(
    "text",
    [
        "frob.u32 %r1, %r2", "add.u33 %r1, %r2, %r3", "add.rn.u32 %r1, %r2, %r3",
        "addc.f32 %f1, %f2, %f3", "mul.u32 %r1, %r2, %r3", "setp.u32 %p1, %r1, %r2",
        "setp.lo.f32 %p1, %f1, %f2", "cvt.u32.f32 %r1, %f1", "cvt.rzi.u32 %r1, %f1",
        "add.u32 %r1, %r2", "add.u64 %d1, %r1, %r2", "add.u32 %p1, %r1, %r2", "mov.u32 5, %r1",
        "ld.global.u32 %r1, %r2", "ld.global %r1, [%d1]", "ld.nowhere.u32 %r1, [%d1]",
        "ld.global.v2.u32 {%r1, %r2, %r3}, [%d1]", "fence.proxy.async", "membar",
        "vote.ballot.b32 %r1, %p1", "shfl.down.b32 %r1, %r2, 1, 31", "bar.sync",
        "cp.async.bulk.wait_group 0", "wmma.store.d.sync.aligned [%d1], %r1",
        "add.bf16x2 %r1, %r2, %r3", "div.rna.f64 %g1, %g2, %g3", "fma.rna.f64 %g1, %g1, %g2, %g3",
        "cvta.u64 %d1, %d2", "@%p1 bar.warp.sync -1", "@%p1 shfl.sync.up.b32 %r1, %r1, 1, 0, -1",
        "atom.global.frob.u32 %r1, [%d1], 1", "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1]",
    ],
)  # fmt: skip
def test_unknown_instructions(text):
    with pytest.raises(PtxError, match=r"^test.ptx:22: ") as error:
        Run("mov.u32 %r1, 0;\n" + text + ";")
    assert error.value.line == 22


def test_nothing_is_run_or_recorded_before():
    device = Device(GEOMETRY)
    with pytest.raises(PtxError, match=r"frob\.u32 is not supported"):
        Run("st.global.u32 [%d33], 1; ret; frob.u32 %r1, %r2;", device=device)
    assert len(device.trace("nothing")) == 0


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%d1, {%r1}];", "textures"),
        ("sust.b.1d.b32.trap [%d1, {%r1}], {%r2};", "surfaces"),
        ("griddepcontrol.wait;", "programmatic dependent launch"),
        ("call cudaLaunchDeviceV2;", "dynamic parallelism"),
    ],
)
def test_what_is_not_supported_is_named_with_line_and_kernel(text, family):
    line = '.file 1 "a.cu"\n.extern .func cudaLaunchDeviceV2;\n'
    with pytest.raises(PtxError, match=rf"\({family}\) is not supported \(a\.cu:7, in test\)"):
        Run(f".loc 1 7 3\n{text}", outside=line)


def test_the_error_names_the_source_line():
    with pytest.raises(PtxError, match=r"test\.ptx:23: Instruction frob is not supported"):
        Run("mov.u32 %r1, 0;\n\nfrob %r1;")


def test_programs_are_kept():
    one, same = module("mov.u32 %r1, 0;"), module("mov.u32 %r1, 0;")
    assert compile_kernel(one, "test") is compile_kernel(one, "test")
    assert compile_kernel(one, "test") is not compile_kernel(same, "test")


def test_vectors_in_moves_and_the_sink():
    run = Run(
        "mov.b64 %d1, {%r31, 7}; mov.b64 {%r1, _}, %d1; mov.b64 {_, %r2}, %d1;"
        "mov.b32 {%h1, %h2}, %r31; mov.b32 %r3, {%h2, %h1}; add.u32 %r1, %r1, %r2;"
        "add.u32 %r1, %r1, %r3; st.global.u32 [%d33], %r1;"
    )
    assert run.out()[:32].tolist() == [lane + 7 + (lane << 16) for lane in range(32)]


def test_predicates_negated_and_combined():
    run = Run(
        "setp.lt.u32 %p1, %r31, 8; setp.ge.and.u32 %p2|%p3, %r31, 4, !%p1; not.pred %p4, %p3;"
        "mov.pred %p5, 1; xor.pred %p4, %p4, %p5; selp.u32 %r1, 1, 0, %p2; selp.u32 %r2, 2, 0, %p4;"
        "@!%p1 add.u32 %r1, %r1, 10; or.b32 %r1, %r1, %r2; st.global.u32 [%d33], %r1;"
    )
    assert run.out()[:32].tolist() == [0] * 8 + [11] * 24


def test_guarded_arithmetic_in_divergent_code():
    run = Run(
        "mov.u32 %r1, 0; and.b32 %r2, %r31, 1; setp.eq.u32 %p1, %r2, 0; setp.lt.u32 %p2, %r31, 4;"
        "@%p1 bra SKIP; @%p2 mov.u32 %r1, 5; @!%p2 mov.u32 %r1, 6; SKIP: st.global.u32 [%d33], %r1;"
    )
    assert run.out()[:8].tolist() == [0, 5, 0, 5, 0, 6, 0, 6]
