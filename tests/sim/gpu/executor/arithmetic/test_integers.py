"""Integer arithmetic against Python's integers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.gpu.ptx_kernels import QUICK, compute

TYPES = ("s16", "u16", "s32", "u32", "s64", "u64")


def bounds(name):
    bits = int(name[1:])
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if name[0] == "s" else (0, (1 << bits) - 1)


def wrap(value, name):
    bits = int(name[1:])
    value &= (1 << bits) - 1
    return value - (1 << bits) if name[0] == "s" and value >> bits - 1 else value


def numbers(name):
    low, high = bounds(name)
    edges = sorted({low, low + 1, -1, 0, 1, 2, high - 1, high} & set(range(low, low + 4)) | {
        value for value in (-2, -1, 0, 1, 2, high - 1, high) if low <= value
    })  # fmt: skip
    return st.one_of(st.sampled_from(edges), st.integers(low, high))


def truncate(a, b):
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def divide(a, b):
    return truncate(a, b) if b else -1


def remainder(a, b):
    return a - b * truncate(a, b) if b else a


BINARY = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul.lo": lambda a, b: a * b,
    "div": divide,
    "rem": remainder,
    "min": min,
    "max": max,
}


@pytest.mark.parametrize("type_name", TYPES)
@pytest.mark.parametrize("opcode", BINARY)
@QUICK
@given(data=st.data())
def test_binary(opcode, type_name, data):
    a, b = data.draw(numbers(type_name)), data.draw(numbers(type_name))
    expected = wrap(BINARY[opcode](a, b), type_name)
    assert compute(f"{opcode}.{type_name}", a, b).item() == expected


@pytest.mark.parametrize("type_name", TYPES)
@QUICK
@given(data=st.data())
def test_high_half(type_name, data):
    a, b = data.draw(numbers(type_name)), data.draw(numbers(type_name))
    assert compute(f"mul.hi.{type_name}", a, b).item() == a * b >> int(type_name[1:])


@pytest.mark.parametrize("type_name", ["s16", "u16", "s32", "u32"])
@QUICK
@given(data=st.data())
def test_wide_product(type_name, data):
    a, b = data.draw(numbers(type_name)), data.draw(numbers(type_name))
    assert compute(f"mul.wide.{type_name}", a, b).item() == a * b
    wide = f"{type_name[0]}{2 * int(type_name[1:])}"
    c = data.draw(numbers(wide))
    assert compute(f"mad.wide.{type_name}", a, b, c).item() == wrap(a * b + c, wide)


@pytest.mark.parametrize("type_name", TYPES)
@QUICK
@given(data=st.data())
def test_three_operands(type_name, data):
    a, b, c = (data.draw(numbers(type_name)) for _ in range(3))
    high = wrap((a * b >> int(type_name[1:])) + c, type_name)
    assert compute(f"mad.lo.{type_name}", a, b, c).item() == wrap(a * b + c, type_name)
    assert compute(f"mad.hi.{type_name}", a, b, c).item() == high
    assert compute(f"sad.{type_name}", a, b, c).item() == wrap(abs(a - b) + c, type_name)


@pytest.mark.parametrize("type_name", ["s16", "s32", "s64"])
@QUICK
@given(data=st.data())
def test_signs(type_name, data):
    a = data.draw(numbers(type_name))
    assert compute(f"neg.{type_name}", a).item() == wrap(-a, type_name)
    assert compute(f"abs.{type_name}", a).item() == wrap(abs(a), type_name)


@QUICK
@given(a=numbers("s32"), b=numbers("s32"), c=numbers("s32"))
def test_saturation(a, b, c):
    def clamp(value):
        return max(-(2**31), min(2**31 - 1, value))

    assert compute("add.sat.s32", a, b).item() == clamp(a + b)
    assert compute("sub.sat.s32", a, b).item() == clamp(a - b)
    assert compute("mad.hi.sat.s32", a, b, c).item() == clamp((a * b >> 32) + c)


@QUICK
@given(a=numbers("u32"), b=numbers("u32"), c=numbers("s32"))
def test_dot_product(a, b, c):
    def octets(value, signed):
        return [wrap(value >> 8 * n, "s8" if signed else "u8") for n in range(4)]

    for first in "su":
        for second in "su":
            pairs = zip(octets(a, first == "s"), octets(b, second == "s"), strict=True)
            total = sum(x * y for x, y in pairs) + c
            found = compute(f"dp4a.{first}32.{second}32", a, b, c).item()
            assert found == wrap(total, f"{second}32") == wrap(found, f"{second}32")


def test_division_by_zero_is_the_hardware_s():
    assert compute("div.u32", 7, 0).item() == 0xFFFFFFFF
    assert compute("rem.s32", -7, 0).item() == -7
    assert compute("div.s32", -(2**31), -1).item() == -(2**31)
