"""The PTX parser: what compilers write, every form by hand, broken texts, and round trips."""

import re
import struct
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ptx_text import HEADER, kernel_text, unparse

from racetrap.sim.gpu.nvrtc import compile_cuda, has_nvrtc
from racetrap.sim.gpu.ptx.errors import PtxError
from racetrap.sim.gpu.ptx.parser import parse_ptx
from racetrap.sim.gpu.ptx.program import (
    Address,
    CallTarget,
    Immediate,
    Instruction,
    Location,
    Module,
    Negated,
    Register,
    Special,
    Symbol,
    Target,
    Vector,
    parameter_layout,
)

_FOLDER = Path(__file__).parent
_COMPILED = ("instructions_75", "instructions_100", "orders_90")


def _compiled(stem: str) -> Module:
    return parse_ptx((_FOLDER / f"{stem}.ptx").read_text(), f"{stem}.ptx")


def _one(statement: str, declarations: str = "") -> Instruction:
    """The first instruction of a kernel."""
    return parse_ptx(kernel_text(statement, declarations), "t.ptx").functions["k"].instructions[0]


def _register(name: str, kind: str = "b32") -> Register:
    return Register(name, kind)


# What compilers write


@pytest.mark.parametrize("stem", _COMPILED)
def test_compiled_text(stem):
    """As many statements as end in a semicolon inside a body and declare nothing."""
    module = _compiled(stem)
    text = (_FOLDER / f"{stem}.ptx").read_text()
    instructions = [i for f in module.functions.values() for i in f.instructions]
    assert [i.index for i in instructions] == list(range(len(instructions)))
    lines = text.splitlines()
    assert all(i.name in lines[i.line - 1].replace("\t", " ") for i in instructions)
    # The same count without a grammar.
    code = re.sub(r"//.*", "", text.partition(".section")[0])
    parts = re.split(r"[;{}]|^\s*[\w$]+\s*:|\.loc[^\n]*", code, flags=re.MULTILINE)
    found = (re.match(r"\s*(?:@!?\S+\s+)?([a-z]\w*)", part) for part in parts)
    opcodes = Counter(match[1] for match in found if match)
    opcodes = Counter({o: n for o, n in opcodes.items() if not o.startswith("prototype_")})
    assert opcodes == Counter(i.opcode for i in instructions)


@pytest.mark.parametrize("stem", ["instructions_75", "instructions_100"])
def test_compiled_variables(stem):
    module = _compiled(stem)
    assert module.target == f"sm_{stem[-2:] if stem.endswith('75') else '100'}"
    variables = module.variables
    assert variables["table"].initial == struct.pack("<4i", 1, -2, 3, 4)
    assert variables["weights"].initial == struct.pack("<8f", 1, 2, 3, 4, 0.1, -1, 0, 0)
    assert variables["into_table"].addresses == ((0, "table", 8),)
    assert [name for _, name, _ in variables["operations"].addresses] == list(
        f for f in module.functions if "add" in f or "subtract" in f
    )
    assert variables["managed"].initial == struct.pack("<q", -5)
    assert variables["real"].initial == struct.pack("<d", 2.5)
    assert (variables["unset"].initial, variables["unset"].size) == (None, 16)
    dynamic = variables["dynamic"]
    assert (dynamic.space, dynamic.size, dynamic.extern) == ("shared", 0, True)
    shared = {v.name: v.size for v in module.functions["memory"].variables if v.space == "shared"}
    assert sorted(shared.values()) == [16, 128, 128]


@pytest.mark.parametrize("stem", ["instructions_75", "instructions_100"])
def test_compiled_functions(stem):
    functions = _compiled(stem).functions
    flow = functions["flow"]
    assert [p.size for p in flow.parameters] == [8, 4, 16, 1, 2, 1]
    assert parameter_layout(flow.parameters) == ((0, 8, 16, 32, 34, 36), 37)
    instance = next(f for name, f in functions.items() if "instance" in name)
    assert (instance.is_kernel, instance.max_threads) == (True, 128)
    assert not functions["printf" if "printf" in functions else "vprintf"].defined
    calls = [i.operands[1] for i in flow.instructions if i.opcode == "call"]
    assert sum(isinstance(c, Register) for c in calls) == 1
    assert {c.name for c in calls if isinstance(c, CallTarget)} <= set(functions)
    # The two inline-assembly blocks have a register `p` and a label `DONE` each.
    assert {"p", "p#2"} <= set(flow.registers)
    done = [i.operands[0] for i in flow.instructions if "DONE" in str(i.operands)]
    assert len({target.index for target in done}) == 2


def test_inlined_code_has_the_place_of_its_call():
    """Atomics of the C++ library come through seven functions of other files."""
    source = (_FOLDER / "orders.cu").read_text().splitlines()
    kernel = _compiled("orders_90").functions["orders"]
    memory = [i for i in kernel.instructions if i.opcode in ("atom", "ld", "st", "fence")]
    assert {i.location.file for i in memory} == {"orders.cu"}
    (acquire, *_) = [i for i in memory if "acquire" in i.modifiers and i.opcode == "ld"]
    assert "a.load(cuda::memory_order_acquire)" in source[acquire.location.line - 1]
    (release,) = [i for i in memory if i.name.startswith("atom.exch.release")]
    assert "a.exchange(3, cuda::memory_order_release)" in source[release.location.line - 1]


@pytest.mark.skipif(not has_nvrtc(), reason="needs the optional extra cuda")
def test_what_the_installed_compiler_writes():
    source = (_FOLDER / "instructions.cu").read_text()
    kept = (_FOLDER / "instructions_75.ptx").read_text()
    assert parse_ptx(compile_cuda(source, "instructions.cu"), "k") == parse_ptx(kept, "k")


def test_two_thousand_lines_a_second():
    text = (_FOLDER / "instructions_75.ptx").read_text()
    parse_ptx(text, "warm-up")
    begin = time.process_time()
    parse_ptx(text, "timed")
    assert (time.process_time() - begin) / text.count("\n") * 2000 < 1


# Every form by hand


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
        .visible .entry k (.param .u64 .ptr .global .align 4 a, .param .align 8 .b8 b[12], .param .f32 c)
        .maxntid 32, 4, 1 .minnctapersm 2 .pragma "nounroll";
        { call inside; ret; }
        .weak .func inside { ret; }
        .entry small () .reqntid 7 { }
    """
    )
    functions = parse_ptx(text, "t.ptx").functions
    assert set(functions) == {"outside", "inside", "k", "small"}
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
        .loc 1 40 2, function_name $L__info_string1+4, inlined_at 1 12 7
        mov.u32 %r1, 4;
        .loc 1 0 3
        mov.u32 %r1, 5;
    """
    files = '.file 1 "a b.cu", 123, 456\n.file 2 "/include/x.h"\n'
    debug = ".section .debug_str\n{\n$L__info_string0:\n.b8 95,90\n}\n"
    kernel = parse_ptx(kernel_text(body) + files + debug, "t.ptx").functions["k"]
    assert [i.location for i in kernel.instructions] == [
        None,
        Location("a b.cu", 10, 5),
        Location("a b.cu", 11, 7),  # inlined from another file: where it was called
        Location("a b.cu", 40, 2),  # inlined from the same file: where it stands
        None,
    ]
    assert str(kernel.instructions[1].location) == "a b.cu:10"


def test_comments_and_white_space():
    body = "/* one\n @%p1 */ ret // two }\n ; /**/ { // callseq 0, 0\n }"
    (instruction,) = parse_ptx(kernel_text(body), "t.ptx").functions["k"].instructions
    assert (instruction.name, instruction.line) == ("ret", 9)


# Broken texts


@pytest.mark.parametrize(
    ("body", "line", "sentence"),
    [
        ("ld.global.u32 %r1, [%rd1", 9, "Text must go on with '+', '-' or ']', not '}'"),
        ("mov.u32 %r1 %r2;", 8, "not '%r2'"),
        ("mov.u32 %r1, 09;", 8, "not '09'"),
        ("mov.u32 %r1, 0f3F80;", 8, "an operand, not '0f3F80'"),
        ("?", 8, "Text must go on with a statement, not '?'"),
        ("\nmov.u32 %r1, %r99;", 9, "Register must be declared, not %r99"),
        ("mov.u32 %r1, nothing;", 8, "Name must be declared, not nothing"),
        ("mov.u32 %r1, %tid;", 8, "Register must be declared, not %tid"),
        ("@%r1 ret;", 8, "Predicate must be a register of type .pred, not %r1"),
        ("setp.eq.and.s32 %p1, %r1, 1, !%r2;", 8, "Predicate must be a register of type .pred"),
        ("bra NOWHERE;", 8, "Branch target must be a label of the function, not NOWHERE"),
        ("bra IN; { IN: ret; }", 8, "Branch target must be a label of the function, not IN"),
        ("bra %r1, 5;", 8, "Operand of bra must be one label"),
        ("brx.idx %r1, A; A: ret;", 8, "Branch table must be .branchtargets, not A"),
        ("brx.idx %r1;", 8, "Operands of brx.idx must be an index and a label"),
        (".branchtargets A; A: ret;", 8, "Branch table must have a label before it, not none"),
        ("A: ret; A: ret;", 8, "Label must stand once in its scope, not A again"),
        (".reg .b32 %r3;", 8, "Name must be declared once in its scope, not %r3 again"),
        (".reg .b33 x;", 8, "Text must go on with a type, not '.b33'"),
        ("call nothing, (%r1);", 8, "Name must be declared, not nothing"),
        ("call (%r1), (%r2);", 8, "Operands of call must be (results), function, (arguments)"),
        ("call v;", 8, "Called function must be a function or a register, not v"),
        ("mov.u32 %r1, (%r2);", 8, "Operand in parentheses must be of call, not of mov.u32"),
        ("ld.global.u32 %r1, [%tid.x];", 8, "Address must be of a register or a variable"),
        (".shared .b32 s = 4;", 8, "Variable with an initial value must be .global or .const"),
        (".shared .align 3 .b32 s;", 8, "Alignment must be a power of two, not 3"),
        (".shared .b32 s[];", 8, "Array must have a length or initial values, not []"),
        (".shared .b32 s[2][];", 8, "Array dimensions after the first must be given, not empty"),
        (".shared .b32 .b32 s;", 8, "Variable must have one type, not 2"),
        ("ret; } }", 8, "Text must go on with a declaration, not '}'"),
    ],
)  # fmt: skip
def test_broken_bodies(body, line, sentence):
    with pytest.raises(PtxError) as caught:
        parse_ptx(kernel_text(body, ".global .b32 v;"), "broken.ptx")
    assert str(caught.value).startswith(f"broken.ptx:{line}: ")
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("", 1, "PTX must have .version, not be without it"),
        (".version 9.0\n.target sm_75\n", 1, "PTX must have .address_size, not be without it"),
        (".version 9.0\n.target sm_75\n.address_size 32", 3, "Address size must be 64, not 32"),
        (HEADER + ".entry k() {", 4, "Text must go on with a statement, not the end of the text"),
        (HEADER + ".entry k()", 4, "not the end of the text"),
        (HEADER + ".entry k() {} \n.entry k() {}", 5, "Function must be defined once, not k again"),
        (HEADER + ".local .b32 x;", 4, "Variable of the module must be .global, .shared or"),
        (HEADER + ".global .b32 x;\n.global .b32 x;", 5, "Variable must be defined once, not x"),
        (HEADER + ".global .b32 x[2] = {1, 2, 3};", 4, "Initial values must be at most 2"),
        (HEADER + ".global .b32 x[2] = {{1}, 2};", 4, "Initial value must be as deep as"),
        (HEADER + ".global .b32 x = 1.5;", 4, "Initial value of .b32 must be an integer, not 1.5"),
        (HEADER + ".global .b32 x = x;", 4, "Initial value of .b32 must be a number, not an addr"),
        (HEADER + ".texref t;", 4, "Text must go on with a declaration, not '.texref'"),
    ],
)
def test_broken_modules(text, line, sentence):
    with pytest.raises(PtxError) as caught:
        parse_ptx(text, "broken.ptx")
    assert str(caught.value).startswith(f"broken.ptx:{line}: ")
    assert sentence in str(caught.value)


# Round trips


def _bare(module: Module) -> Module:
    """Without what writing a module as PTX again does not keep."""

    def variable(v):
        return replace(v, name=v.name.replace("#", "_scope"), type="b8")

    def operand(o):
        match o:
            case Register() | Symbol():
                return replace(o, name=o.name.replace("#", "_scope"))
            case Negated():
                return Negated(operand(o.register))
            case Address():
                return replace(o, base=operand(o.base))
            case Target():
                return Target(f"L{o.index}", o.index)
            case Vector():
                return Vector(tuple(map(operand, o.elements)))
        return o

    def function(f):
        return replace(
            f,
            parameters=tuple(map(variable, f.parameters)),
            returns=tuple(map(variable, f.returns)),
            registers={operand(r).name: operand(r) for r in f.registers.values()},
            variables=tuple(map(variable, f.variables)),
            instructions=tuple(
                replace(
                    i, operands=tuple(map(operand, i.operands)), guard=operand(i.guard),
                    line=0, location=None,
                )
                for i in f.instructions
            ),
        )  # fmt: skip

    return replace(
        module,
        version="",
        target="",
        variables={n: variable(v) for n, v in module.variables.items()},
        functions={n: function(f) for n, f in module.functions.items()},
    )


@pytest.mark.parametrize("stem", _COMPILED)
def test_compiled_text_round_trip(stem):
    module = _compiled(stem)
    assert _bare(parse_ptx(unparse(module), f"{stem}.ptx")) == _bare(module)


_REGISTERS = st.builds("%{}{}".format, st.sampled_from(["r", "rd", "f"]), st.integers(0, 8))
_OPERANDS = st.one_of(
    _REGISTERS,
    st.integers(-(1 << 63), (1 << 64) - 1).map(str),
    st.builds("[{}+{}]".format, _REGISTERS, st.integers(-4096, 4096)),
    st.lists(_REGISTERS, min_size=2, max_size=4).map(lambda r: "{" + ", ".join(r) + "}"),
    st.integers(0, 8).map("!%p{}".format),
    st.sampled_from(["%tid.y", "%clock64", "0f3F000000", "0dBFF0000000000000"]),
)
_STATEMENTS = st.builds(
    "{} {}.{} {};".format,
    st.sampled_from(["", "@%p1", "@!%p8"]),
    st.sampled_from(["ld", "atom", "x0", "set"]),
    st.sampled_from(["u32", "global.v4.f32", "acq_rel.gpu", "L1::no_allocate.b8"]),
    st.lists(_OPERANDS, max_size=5).map(", ".join),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(_STATEMENTS, max_size=12))
def test_any_statements_round_trip(statements):
    module = parse_ptx(kernel_text("\n".join(statements)), "t.ptx")
    assert len(module.functions["k"].instructions) == len(statements)
    assert _bare(parse_ptx(unparse(module), "t.ptx")) == _bare(module)
