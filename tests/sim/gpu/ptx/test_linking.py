"""Linking of modules: definitions found, own names kept apart, what no file defines refused."""

import pytest

from racetrap.sim.gpu.ptx.errors import PtxError
from racetrap.sim.gpu.ptx.linking import link, with_distinct_names
from racetrap.sim.gpu.ptx.parser import parse_ptx

_HEAD = ".version 9.0\n.target sm_75\n.address_size 64\n"
_CALLER = """
.extern .func f;
.extern .global .align 4 .u32 count;
.extern .shared .align 4 .b8 dynamic[];
.global .align 1 .b8 $str[3] = {97, 98};
.visible .entry k() { .reg .b64 %rd<2>; mov.u64 %rd1, $str; call f; ret; }
"""
_CALLED = """
.visible .global .align 4 .u32 count = 5;
.global .align 1 .b8 $str[2] = {99};
.global .align 1 .b8 $str$1[2] = {100};
.weak .func g { ret; }
.visible .func f { .reg .b64 %rd<2>; mov.u64 %rd1, $str; call g; ret; }
"""


def _linked(*texts):
    modules, first = [], 0
    for text in with_distinct_names([_HEAD + text for text in texts]):
        modules.append(parse_ptx(text, "module 0", first))
        first += sum(len(each.instructions) for each in modules[-1].functions.values())
    return link(modules)


@pytest.mark.parametrize("texts", [(_CALLER, _CALLED), (_CALLED, _CALLER)])
def test_definitions_of_either_file_are_taken(texts):
    module = _linked(*texts)
    assert {name for name, each in module.functions.items() if each.defined} == {"f", "g", "k"}
    assert not module.variables["count"].extern
    found = {
        name: bytes(module.variables[operand.name].initial)
        for name in ("k", "f")
        for operand in [module.functions[name].instructions[0].operands[1]]
    }
    assert found == {"k": b"ab\0", "f": b"c\0"}
    assert module.variables["$str$1"].initial == b"d\0"
    numbers = [i.index for each in module.functions.values() for i in each.instructions]
    assert sorted(numbers) == list(range(len(numbers)))


def test_the_first_of_weak_definitions_is_taken():
    module = _linked(_CALLED, ".weak .func g { ret; ret; }\n")
    assert len(module.functions["g"].instructions) == 1


def test_a_variable_that_no_file_defines_is_refused():
    with pytest.raises(PtxError, match="Variable count is declared in one file of the program, "):
        _linked(_CALLER, ".visible .func f { ret; }\n")


def test_a_single_module_stays_as_it_is():
    assert with_distinct_names([_CALLED]) == [_CALLED]
    module = parse_ptx(_HEAD + _CALLED, "module 0")
    assert link([module]) is module
