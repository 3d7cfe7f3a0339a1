"""Broken PTX: each error names the file, the line and the rule."""

import pytest

from racetrap.sim.gpu.ptx.errors import PtxError
from racetrap.sim.gpu.ptx.parser import parse_ptx
from tests.support.gpu.ptx_text import HEADER, kernel_text


@pytest.mark.parametrize(
    ("body", "line", "sentence"),
    [
        ("ld.global.u32 %r1, [%rd1", 9, "Text must go on with '+', ',', '-' or ']', not '}'"),
        ("mov.u32 %r1 %r2;", 8, "not '%r2'"),
        ("mov.u32 %r1, 09;", 8, "not '09'"),
        ("mov.u32 %r1, 0f3F80;", 8, "an operand, not '0f3F80'"),
        ("?", 8, "Text must go on with a statement, not '?'"),
        ("\nmov.u32 %r1, %r99;", 9, "Register %r99 is not declared"),
        ("mov.u32 %r1, nothing;", 8, "Name nothing is not declared"),
        ("mov.u32 %r1, %tid;", 8, "Register %tid is not declared"),
        ("@%r1 ret;", 8, "Predicate must be a register of type .pred, not %r1"),
        ("setp.eq.and.s32 %p1, %r1, 1, !%r2;", 8, "Predicate must be a register of type .pred"),
        ("bra NOWHERE;", 8, "Branch target must be a label of the function, not NOWHERE"),
        ("bra IN; { IN: ret; }", 8, "Branch target must be a label of the function, not IN"),
        ("bra %r1, 5;", 8, "Operand of bra must be one label"),
        ("brx.idx %r1, A; A: ret;", 8, "Branch table must be .branchtargets, not A"),
        ("brx.idx %r1;", 8, "Operands of brx.idx must be an index and a label"),
        (".branchtargets A; A: ret;", 8, "Branch table has no label before it"),
        ("A: ret; A: ret;", 8, "Label A is defined twice in its scope"),
        (".reg .b32 %r3;", 8, "Name %r3 is declared twice in its scope"),
        (".reg .b33 x;", 8, "Text must go on with a type, not '.b33'"),
        ("call nothing, (%r1);", 8, "Name nothing is not declared"),
        ("call (%r1), (%r2);", 8, "Operands of call must be (results), function, (arguments)"),
        ("call v;", 8, "Called function must be a function or a register, not v"),
        ("mov.u32 %r1, (%r2);", 8, "Operand in parentheses belongs to call, not to mov.u32"),
        ("ld.global.u32 %r1, [%tid.x];", 8, "Address must be of a register or a variable"),
        (".shared .b32 s = 4;", 8, "Variable with an initial value must be .global or .const"),
        (".shared .align 3 .b32 s;", 8, "Alignment must be a power of two, not 3"),
        (".shared .b32 s[];", 8, "Array has neither a length nor initial values"),
        (".shared .b32 s[2][];", 8, "Array dimensions after the first lack a length"),
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
        ("", 1, "PTX has no .version"),
        (".version 9.0\n.target sm_75\n", 1, "PTX has no .address_size"),
        (".version 9.0\n.target sm_75\n.address_size 32", 3, "Address size must be 64, not 32"),
        (HEADER + ".entry k() {", 4, "Text must go on with a statement, not the end of the text"),
        (HEADER + ".entry k()", 4, "not the end of the text"),
        (HEADER + ".entry k() {} \n.entry k() {}", 5, "Function k is defined twice"),
        (HEADER + ".local .b32 x;", 4, "Variable of the module must be .global, .shared or"),
        (HEADER + ".global .b32 x;\n.global .b32 x;", 5, "Variable x is defined twice"),
        (HEADER + ".global .b32 x[2] = {1, 2, 3};", 4, "Initial values must be at most 2"),
        (HEADER + ".global .b32 x[2] = {{1}, 2};", 4, "Initial value is nested deeper"),
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
