"""The PTX parser: every form of statement, operand and declaration, by hand."""

import struct

import pytest

from racetrap.sim.gpu.ptx.module import (
    Address,
    CallTarget,
    ClusterLimits,
    Immediate,
    InlinedCall,
    Instruction,
    Location,
    Negated,
    Register,
    Special,
    Symbol,
    Target,
    Vector,
)
from racetrap.sim.gpu.ptx.parser import parse_ptx
from tests.support.gpu.ptx_text import HEADER, kernel_text


def _one(statement: str, declarations: str = "") -> Instruction:
    """The first instruction of a kernel."""
    return parse_ptx(kernel_text(statement, declarations), "t.ptx").functions["k"].instructions[0]


def _register(name: str, kind: str = "b32") -> Register:
    return Register(name, kind)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("-5", -5),
        ("0x1F", 31),
        ("-0x1f", -31),
        ("0b101", 5),
        ("017", 15),
        ("0", 0),
        ("7U", 7),
        ("0xffffffffU", 0xFFFFFFFF),
        ("-9223372036854775808", -(1 << 63)),
        ("0f3F800000", 1.0),
        ("0F40490FDB", 3.1415927410125732),
        ("0d3FF8000000000000", 1.5),
        ("0f80000000", -0.0),
        ("1.25", 1.25),
        ("2.5e-3", 0.0025),
        ("WARP_SZ", 32),
    ],
)
def test_constants(text, value):
    operand = _one(f"mov.b32 %r1, {text};").operands[1]
    assert isinstance(operand, Immediate)
    assert (type(operand.value), str(operand.value)) == (type(value), str(value))


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("[%rd1]", Address(_register("%rd1", "b64"), 0)),
        ("[%rd1+4]", Address(_register("%rd1", "b64"), 4)),
        ("[ %rd1 + -4 ]", Address(_register("%rd1", "b64"), -4)),
        ("[%rd1-0x10]", Address(_register("%rd1", "b64"), -16)),
        ("[v]", Address(Symbol("v"), 0)),
        ("[v+8]", Address(Symbol("v"), 8)),
        ("[4096]", Address(None, 4096)),
    ],
)
def test_addresses(text, address):
    load = _one(f"ld.global.u32 %r1, {text};", ".global .b32 v[4];")
    assert load.operands == (_register("%r1"), address)
    assert (load.opcode, load.modifiers) == ("ld", ("global", "u32"))


@pytest.mark.parametrize(
    ("statement", "operands"),
    [
        ("mov.u32 %r1, %tid.x;", (_register("%r1"), Special("%tid.x"))),
        ("mov.u32 %r1, %lanemask_lt;", (_register("%r1"), Special("%lanemask_lt"))),
        ("mov.u64 %rd1, v;", (_register("%rd1", "b64"), Symbol("v"))),
        ("mov.u64 %rd1, v+12;", (_register("%rd1", "b64"), Address(Symbol("v"), 12))),
        ("mov.u64 %rd1, k;", (_register("%rd1", "b64"), Symbol("k"))),
        ("mov.b64 {_, %r2}, %rd1;",
         (Vector((Register("_", "b64"), _register("%r2"))), _register("%rd1", "b64"))),
        ("shfl.sync.idx.b32 %r1|%p1, %r2, 3, 31, -1;",
         (Vector((_register("%r1"), _register("%p1", "pred"))), _register("%r2"),
          Immediate(3), Immediate(31), Immediate(-1))),
        ("vote.sync.all.pred %p1, !%p2, -1;",
         (_register("%p1", "pred"), Negated(_register("%p2", "pred")), Immediate(-1))),
        ("bra.uni END; END:", (Target("END", 1),)),
        ("T: .branchtargets A, B; A: brx.idx %r1, T; B: ret;",
         (_register("%r1"), Vector((Target("A", 0), Target("B", 1))))),
        ("call k;", (Vector(()), CallTarget("k"), Vector(()))),
        ("call.uni (%r1), k, (%r2, 7);",
         (Vector((_register("%r1"),)), CallTarget("k"), Vector((_register("%r2"), Immediate(7))))),
        ("P: .callprototype (.param .b32 _) _ (.param .b32 _); call (%r1), %rd1, (%r2), P;",
         (Vector((_register("%r1"),)), _register("%rd1", "b64"), Vector((_register("%r2"),)))),
        ("ret;", ()),
    ],
)  # fmt: skip
def test_operands(statement, operands):
    assert _one(statement, ".global .b32 v[4];").operands == operands


def test_guards():
    assert _one("ret;").guard is None
    plain, negated = _one("@%p1 ret;"), _one("@ !%p1 ret;")
    assert plain.guard == negated.guard == _register("%p1", "pred")
    assert (plain.guard_negated, negated.guard_negated) == (False, True)


def test_nested_scopes():
    """An inner name hides an outer one as far as its braces go; labels too."""
    body = """
        .reg .b32 x; bra L; { .reg .b64 x; mov.u64 x, 1; bra L; L: { mov.u64 x, 2; bra M; } }
        { .reg .b16 x; mov.u16 x, 3; } mov.u32 x, 4; L: M: ret;
    """
    kernel = parse_ptx(kernel_text(body), "t.ptx").functions["k"]
    written = [i.operands[0] for i in kernel.instructions if i.opcode == "mov"]
    assert [(r.name, r.type) for r in written] == [
        ("x#2", "b64"), ("x#2", "b64"), ("x#3", "b16"), ("x", "b32"),
    ]  # fmt: skip
    targets = [i.operands[0].index for i in kernel.instructions if i.opcode == "bra"]
    assert targets == [7, 3, 7]


def test_variables_that_hide_others():
    """Each variable has a name of its own, also beside those of module and parameters."""
    body = """
        { .param .b32 p; .shared .b16 v; ld.param.u32 %r1, [p]; ld.shared.u16 %r2, [v]; }
        { .param .b64 p; ld.param.u64 %rd1, [p]; }
        ld.param.u32 %r3, [p]; ld.global.u32 %r4, [v];
    """
    module = parse_ptx(kernel_text(body, ".global .b32 v;", parameters=".param .u32 p"), "t.ptx")
    kernel = module.functions["k"]
    assert [(v.name, v.size) for v in kernel.variables] == [("p#2", 4), ("v#2", 2), ("p#3", 8)]
    bases = [i.operands[1].base.name for i in kernel.instructions]
    assert bases == ["p#2", "v#2", "p#3", "p", "v"]


def test_register_ranges():
    kernel = parse_ptx(kernel_text(".reg .f16x2 %h<3>, one;"), "t.ptx").functions["k"]
    names = [r.name for r in kernel.registers.values() if r.type == "f16x2"]
    assert names == ["%h0", "%h1", "%h2", "one"]


def test_declarations():
    text = (
        HEADER
        + """
        .visible .global .align 16 .b8 bytes[5] = {1, 2}, more[1];
        .global .f32 grid[2][3] = {{1.5, 2.0}, {0f40400000}};
        .global .s16 inferred[] = {-1, 0x7FFF, 3};
        .global .u64 pointers[2] = {grid+4, generic(bytes)};
        .global .b8 packed[9] = {7, 0xFF(grid), 0xFF00(grid), 0xFF0000(grid), 0xFF000000(grid),
                                 0xFF00000000(grid), 0xFF0000000000(grid),
                                 0xFF000000000000(grid), 0xFF00000000000000(grid)};
        .global .attribute(.managed) .u32 shared_with_host;
        .extern .global .u32 elsewhere;
        .weak .const .f64 constant = -2.5;
        .extern .shared .align 8 .b8 dynamic[];
    """
    )
    variables = parse_ptx(text, "t.ptx").variables
    assert variables["bytes"].initial == bytes([1, 2, 0, 0, 0])
    assert (variables["bytes"].align, variables["more"].align) == (16, 16)
    assert variables["grid"].initial == struct.pack("<6f", 1.5, 2, 0, 3, 0, 0)
    assert variables["inferred"].initial == struct.pack("<3h", -1, 0x7FFF, 3)
    assert variables["pointers"].addresses == ((0, "grid", 4), (8, "bytes", 0))
    assert variables["packed"].addresses == ((1, "grid", 0),)
    assert variables["shared_with_host"].size == 4
    assert variables["elsewhere"].extern
    assert variables["constant"].initial == struct.pack("<d", -2.5)
    assert (variables["dynamic"].size, variables["dynamic"].align) == (0, 8)


def test_functions_and_limits():
    text = (
        HEADER
        + """
        .extern .func (.param .b32 out) outside (.param .b64 p) .noreturn;
        .func inside;
        .visible .entry k (.param .u64 .ptr .global .align 4 a, .param .align 8 .b8 b[12],
                           .param .f32 c)
        .maxntid 32, 4, 1 .minnctapersm 2 .pragma "nounroll";
        { call inside; ret; }
        .weak .func inside { ret; }
        .entry small () .reqntid 7 { }
        .entry clustered () .explicitcluster .reqnctapercluster 2, 2, 1 { }
    """
    )
    functions = parse_ptx(text, "t.ptx").functions
    assert set(functions) == {"outside", "inside", "k", "small", "clustered"}
    assert functions["small"].cluster == ClusterLimits()
    assert functions["clustered"].cluster == ClusterLimits((2, 2, 1), is_explicit=True)
    kernel = functions["k"]
    assert [(p.type, p.size, p.align) for p in kernel.parameters] == [
        ("u64", 8, 8), ("b8", 12, 8), ("f32", 4, 4),
    ]  # fmt: skip
    assert (kernel.max_threads, functions["small"].max_threads) == (128, 7)
    assert [v.size for v in functions["outside"].returns] == [4]
    assert (functions["outside"].defined, functions["inside"].defined) == (False, True)
    assert functions["inside"].instructions[0].index == 2


def test_locations():
    body = """
        mov.u32 %r1, 1;
        .loc 1 10 5
        mov.u32 %r1, 2;
        .loc 2 30 1, function_name $L__info_string0, inlined_at 1 11 7
        mov.u32 %r1, 3;
        .loc 3 9 1, function_name $L__info_string0, inlined_at 1 11 7
        mov.u32 %r1, 3;
        .loc 1 40 2, function_name $L__info_string1+4, inlined_at 1 12 7
        mov.u32 %r1, 4;
        .loc 1 50 3, function_name $L__info_string0, inlined_at 1 40 2
        mov.u32 %r1, 5;
        .loc 1 0 3
        mov.u32 %r1, 6;
    """
    files = (
        '.file 1 "a b.cu", 123, 456\n.file 2 "/include/x.h"\n.file 3 "sm_60_atomic_functions.hpp"\n'
    )
    strings = "$L__info_string0:\n.b8 95,90,0\n$L__info_string1:\n.b8 97,97,97,0\n.b8 98,0\n"
    debug = f".section .debug_str\n{{\n{strings}}}\n"
    kernel = parse_ptx(kernel_text(body) + files + debug, "t.ptx").functions["k"]
    assert [i.location for i in kernel.instructions] == [
        None,
        Location("a b.cu", 10, 5),
        Location("/include/x.h", 30, 1, (InlinedCall("_Z", "a b.cu:11"),)),
        Location("a b.cu", 11, 7),  # atomicAdd and the like are instructions
        Location("a b.cu", 40, 2, (InlinedCall("b", "a b.cu:12"),)),
        Location("a b.cu", 50, 3, (InlinedCall("_Z", "a b.cu:40"), InlinedCall("b", "a b.cu:12"))),
        None,
    ]
    assert str(kernel.instructions[1].location) == "a b.cu:10"
    assert kernel.instructions[2].location.own == "a b.cu:11"


def test_comments_and_white_space():
    body = "/* one\n @%p1 */ ret // two }\n ; /**/ { // callseq 0, 0\n }"
    (instruction,) = parse_ptx(kernel_text(body), "t.ptx").functions["k"].instructions
    assert (instruction.name, instruction.line) == ("ret", 9)
