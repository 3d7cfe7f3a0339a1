"""The PTX parser on what compilers write; modules written as PTX again and read."""

import re
import struct
import time
from collections import Counter
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racetrap.sim.gpu.launch.nvrtc import compile_cuda, has_nvrtc
from racetrap.sim.gpu.ptx.module import (
    Address,
    CallTarget,
    Module,
    Negated,
    Register,
    Symbol,
    Target,
    Vector,
    parameter_layout,
)
from racetrap.sim.gpu.ptx.parser import parse_ptx
from tests.support.gpu.ptx_text import kernel_text, unparse

_FOLDER = Path(__file__).parent
_COMPILED = ("instructions_75", "instructions_100", "orders_90")


def _compiled(stem: str) -> Module:
    return parse_ptx((_FOLDER / f"{stem}.ptx").read_text(), f"{stem}.ptx")


@pytest.mark.parametrize("stem", _COMPILED)
def test_compiled_text(stem):
    """As many statements as end in a semicolon inside a body and declare nothing."""
    module = _compiled(stem)
    text = (_FOLDER / f"{stem}.ptx").read_text()
    instructions = [i for f in module.functions.values() for i in f.instructions]
    assert [i.index for i in instructions] == list(range(len(instructions)))
    lines = text.splitlines()
    for i in instructions:
        assert i.name in lines[i.line - 1].replace("\t", " ")
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
    assert [name for _, name, _ in variables["operations"].addresses] == [
        f for f in module.functions if "add" in f or "subtract" in f
    ]
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


def test_inlined_code_has_its_own_place_and_those_of_its_calls():
    """Atomics of the C++ library come through seven functions of other files."""
    source = (_FOLDER / "orders.cu").read_text().splitlines()
    kernel = _compiled("orders_90").functions["orders"]
    memory = [i for i in kernel.instructions if i.opcode in ("atom", "ld", "st", "fence")]
    assert {i.location.file for i in memory} == {
        "cccl/cuda/std/__atomic/functions/cuda_ptx_generated.h", "orders.cu",
    }  # fmt: skip
    assert {i.location.own.rpartition(":")[0] for i in memory} == {"orders.cu"}

    def text(instruction):
        return source[int(instruction.location.own.rpartition(":")[2]) - 1]

    (acquire, *_) = [i for i in memory if "acquire" in i.modifiers and i.opcode == "ld"]
    assert "a.load(cuda::memory_order_acquire)" in text(acquire)
    (release,) = [i for i in memory if i.name.startswith("atom.exch.release")]
    assert "a.exchange(3, cuda::memory_order_release)" in text(release)


@pytest.mark.skipif(not has_nvrtc(), reason="needs the optional extra cuda")
def test_what_the_installed_compiler_writes():
    source = (_FOLDER / "instructions.cu").read_text()
    kept = (_FOLDER / "instructions_75.ptx").read_text()
    assert _contents(parse_ptx(compile_cuda(source, "instructions.cu"), "k")) == _contents(
        parse_ptx(kept, "k")
    )


def test_two_thousand_lines_a_second():
    text = (_FOLDER / "instructions_75.ptx").read_text()
    parse_ptx(text, "warm-up")
    begin = time.process_time()
    parse_ptx(text, "timed")
    assert (time.process_time() - begin) / text.count("\n") * 2000 < 1


def _contents(module: Module) -> list[object]:
    names = [field.name for field in fields(module) if field.name != "text"]
    return [getattr(module, name) for name in names]


def _bare(module: Module) -> list[object]:
    """Contents without what writing a module as PTX again does not keep."""

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

    bare = replace(
        module,
        version="",
        target="",
        variables={n: variable(v) for n, v in module.variables.items()},
        functions={n: function(f) for n, f in module.functions.items()},
    )
    return _contents(bare)


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
