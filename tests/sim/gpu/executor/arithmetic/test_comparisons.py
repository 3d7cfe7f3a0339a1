"""Comparisons and selections against Python's operators."""

import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.gpu.ptx_kernels import QUICK, compute

NAMES = ("eq", "ne", "lt", "le", "gt", "ge")
FLOATS = st.one_of(st.sampled_from([0.0, -0.0, 1.0, float("nan")]), st.floats(width=32))


@pytest.mark.parametrize("name", NAMES)
@QUICK
@given(a=FLOATS, b=FLOATS)
def test_floats(name, a, b):
    ordered = a == a and b == b
    holds = getattr(operator, name)(a, b)
    assert compute(f"setp.{name}.f32", a, b).item() == (holds and ordered)
    assert compute(f"setp.{name}u.f32", a, b).item() == (holds or not ordered)
    assert compute("setp.num.f32", a, b).item() == ordered
    assert compute("setp.nan.f32", a, b).item() == (not ordered)


@pytest.mark.parametrize("name", NAMES)
@QUICK
@given(a=st.integers(-(2**31), 2**31 - 1), b=st.integers(-(2**31), 2**31 - 1))
def test_integers(name, a, b):
    compare = getattr(operator, name)
    assert compute(f"setp.{name}.s32", a, b).item() == compare(a, b)
    assert compute(f"setp.{name}.u32", a, b).item() == compare(a % 2**32, b % 2**32)
    spelled = {"lt": "lo", "le": "ls", "gt": "hi", "ge": "hs"}.get(name, name)
    assert compute(f"setp.{spelled}.u32", a, b).item() == compare(a % 2**32, b % 2**32)
    assert compute(f"set.{name}.u32.s32", a, b).item() == (2**32 - 1) * compare(a, b)
    assert compute(f"set.{name}.f32.s32", a, b).item() == float(compare(a, b))


@pytest.mark.parametrize("name", ["and", "or", "xor"])
@pytest.mark.parametrize("c", [False, True])
@pytest.mark.parametrize("b", [1, 2])
def test_combined_with_a_predicate(name, b, c):
    combine = getattr(operator, f"{name}_") if name != "xor" else operator.xor
    holds, opposite = combine(b == 1, c), combine(b != 1, c)
    assert compute(f"setp.eq.{name}.s32", 1, b, c).item() == holds
    found = compute(f"setp.eq.{name}.s32", 1, b, c, two_results=True)
    assert [bool(row[0]) for row in found] == [holds, opposite]


def test_both_destinations():
    found = compute("setp.lt.s32", [1, 2], [2, 1], two_results=True)
    assert [row.tolist() for row in found] == [[True, False], [False, True]]


def test_selections():
    assert compute("selp.b32", [1, 1], [2, 2], [True, False]).tolist() == [1, 2]
    assert compute("slct.b32.s32", [1, 1], [2, 2], [0, -1]).tolist() == [1, 2]
    assert compute("slct.b32.f32", [1, 1], [2, 2], [-0.0, np.nan]).tolist() == [1, 2]


def test_flushing_before_a_comparison():
    assert compute("setp.eq.ftz.f32", 1e-40, 0.0).item()
    assert not compute("setp.eq.f32", 1e-40, 0.0).item()
