"""Statements of a CUDA source, and places between them."""

import pytest

from racetrap.sim.gpu.editing.edits import edited
from racetrap.sim.gpu.editing.source_unit import SourceUnit

_SOURCE = b"""#include <cstdio>
#define TWICE(NAME, BEFORE) __global__ void NAME(int *a) { BEFORE; a[0] = 1; }
namespace inner {
template <class T> __global__ void first(T *a) {
  __shared__ int s[32];
  for (int i = 0; i < 4; ++i)
    s[i] = a[i];
  if (threadIdx.x == 0) {
    a[1] = s[0];
    a[2] = s[1];
  } else
    a[3] = 2; a[4] = 5;
}
}
TWICE(second, )
TWICE(third, a[1] = 2; a[2] = 3)
"""


def unit_at(line, source=_SOURCE):
    return SourceUnit("k.cu", source, line)


def put(unit, slot, what="F();"):
    return edited(_SOURCE, slot.put(what)).decode()[unit.start :]


@pytest.mark.parametrize(
    ("line", "begin"),
    [(7, "__global__ void first"), (15, "TWICE(second, )"), (16, "TWICE(third")],
)
def test_unit_is_the_function_or_the_use_of_a_macro_around_a_line(line, begin):
    unit = unit_at(line)
    assert unit.text.decode().startswith(begin)
    assert unit.is_macro == begin.startswith("TWICE")


def test_chain_has_the_statements_around_a_line():
    kinds = [node.type for node in unit_at(9).chain(9)]
    assert kinds == ["if_statement", "expression_statement"]
    assert [node.type for node in unit_at(7).chain(7)] == ["for_statement", "expression_statement"]


@pytest.mark.parametrize(
    ("line", "side", "text"),
    [
        (9, "before", "{\n    F();\n    a[1] = s[0];"),
        (9, "behind", "a[1] = s[0];\n    F();\n"),
        (7, "before", "++i)\n    { F(); s[i] = a[i]; }\n"),
        (7, "behind", "++i)\n    { s[i] = a[i]; F(); }\n"),
        (12, "behind", "a[3] = 2; F(); } a[4]"),
    ],
)
def test_statement_is_put_beside_another(line, side, text):
    unit = unit_at(line)
    slot = getattr(unit, side)(unit.chain(line)[-1])
    assert text in put(unit, slot)


def test_ends_of_new_lines_are_those_of_the_source():
    source = _SOURCE.replace(b"\n", b"\r\n")
    unit = unit_at(9, source)
    (edit,) = unit.before(unit.chain(9)[-1]).put("F();")
    assert edit.text == "F();\r\n    "


def test_loop_gives_places_at_the_end_and_the_beginning_of_its_body():
    unit = unit_at(7)
    texts = [put(unit, slot) for slot in unit.in_loop(unit.chain(7)[0])]
    assert "{ s[i] = a[i]; F(); }" in texts[0]
    assert "{ F(); s[i] = a[i]; }" in texts[1]


def lines_with_a_call(line):
    unit = unit_at(line)
    return {put(unit, slot, "F()").splitlines()[0] for slot in unit.in_arguments()}


def test_arguments_of_a_macro_give_places_beside_each_statement():
    assert "TWICE(second, F())" in lines_with_a_call(15)
    assert {
        "TWICE(third, F(); a[1] = 2; a[2] = 3)", "TWICE(third, a[1] = 2; F(); a[2] = 3)",
        "TWICE(third, a[1] = 2; a[2] = 3; F())",
    } <= lines_with_a_call(16)  # fmt: skip


def test_arms_are_those_of_branches_around_a_byte():
    unit = unit_at(9)
    assert [arm.start_point[0] + 1 for arm in unit.arms_around(_SOURCE.index(b"a[1]"))] == [8]
    assert unit.arms_around(_SOURCE.index(b"s[i] =")) == []


def test_lines_of_the_same_unit_are_added_to_it():
    unit = unit_at(9)
    assert (unit.add(7), unit.add(15), unit.lines) == (True, False, [7, 9])
    assert b"s[i] = a[i]" in {node.text for node in unit.accesses}


@pytest.mark.parametrize(
    ("source", "accesses"),
    [
        (
            b"__global__ void k(int *a) { t[1][threadIdx.x] = f(x, g<SIZE>(*a)); }",
            ["t[1][threadIdx.x] = f(x, g<SIZE>(*a))", "t[1][threadIdx.x]", "x", "*a"],
        ),
        (b"PAIR(k, DEVICE, data[0] = x)", ["data[0] = x", "data[0]", "x"]),
    ],
)
def test_names_of_functions_arrays_built_in_variables_and_of_macros_are_no_accesses(
    source, accesses
):
    assert [node.text.decode() for node in SourceUnit("k.cu", source, 1).accesses] == accesses


def test_neighbours_are_statements_next_to_each_other():
    pairs = [
        tuple(_SOURCE[slice(*span)] for span in pair)
        for unit in (unit_at(9), unit_at(16)) for pair in unit.neighbours
    ]  # fmt: skip
    assert (b"a[1] = s[0];", b"a[2] = s[1];") in pairs
    assert (b"a[1] = 2", b"a[2] = 3") in pairs
    assert [pair for pair in pairs if b"a[3] = 2;" in pair] == []
