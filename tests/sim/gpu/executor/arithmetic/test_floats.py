"""Float arithmetic and conversions against exact rationals, rounded by hand."""

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.gpu.ptx_kernels import QUICK, compute

MODES = ("rn", "rz", "rm", "rp")
FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)
# Values near one another in size, so that sums cancel and round.
CLOSE = st.floats(-4.0, 4.0, width=32)
DOUBLES = st.floats(-1e3, 1e3)


def round_to(value, mode, digits, least):
    """A fraction rounded to a binary float of so many digits, no digit below 2**least."""
    if value == 0:
        return value
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if Fraction(2) ** exponent > magnitude:
        exponent -= 1
    unit = Fraction(2) ** max(exponent - digits + 1, least)
    quotient = value / unit
    down = math.floor(quotient)
    rest = quotient - down
    if mode == "rz":
        up = value < 0 and rest > 0
    elif mode == "rm":
        up = False
    elif mode == "rp":
        up = rest > 0
    else:
        up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and down % 2)
    return (down + up) * unit


def single(value, mode):
    return round_to(value, mode, 24, -149)


def same(found, expected):
    """Equality of a float with an exact value; leaves out what overflows."""
    assume(abs(expected) < Fraction(2) ** 127)
    assert Fraction(float(found)) == expected


@pytest.mark.parametrize("mode", MODES)
@QUICK
@given(a=CLOSE, b=CLOSE, c=CLOSE)
def test_basic_arithmetic(mode, a, b, c):
    x, y, z = Fraction(a), Fraction(b), Fraction(c)
    same(compute(f"add.{mode}.f32", a, b)[0], single(x + y, mode))
    same(compute(f"sub.{mode}.f32", a, b)[0], single(x - y, mode))
    same(compute(f"mul.{mode}.f32", a, b)[0], single(x * y, mode))
    same(compute(f"fma.{mode}.f32", a, b, c)[0], single(x * y + z, mode))
    if abs(b) > 2**-100:
        same(compute(f"div.{mode}.f32", a, b)[0], single(x / y, mode))
        same(compute(f"rcp.{mode}.f32", b)[0], single(1 / y, mode))


@pytest.mark.parametrize("mode", MODES)
@QUICK
@given(a=FLOATS, b=FLOATS, c=FLOATS)
def test_fused_of_any_size(mode, a, b, c):
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    same(compute(f"fma.{mode}.f32", a, b, c)[0], single(exact, mode))


def test_fused_rounds_once():
    # The sum in f64 is exactly between two f32, and what f64 loses tells which one is nearer.
    a, b, c = np.float32(1 + 2**-23), np.float32(1 + 2**-23), np.float32(-(1 + 2**-22))
    assert compute("fma.rn.f32", a, b, c)[0] == np.float32(2**-46)
    tiny = np.float32(2.0**-60)
    assert compute("fma.rn.f32", tiny, tiny, np.float32(1))[0] == 1
    assert compute("fma.rp.f32", tiny, tiny, np.float32(1))[0] == np.float32(1 + 2**-23)


@pytest.mark.parametrize("mode", MODES)
@QUICK
@given(a=DOUBLES, b=DOUBLES, c=DOUBLES)
def test_arithmetic_of_doubles(mode, a, b, c):
    assume(all(value == 0 or abs(value) > 1e-100 for value in (a, b, c)))
    x, y, z = Fraction(a), Fraction(b), Fraction(c)
    for name, exact, *sources in (
        ("fma", x * y + z, a, b, c), ("add", x + y, a, b), ("sub", x - y, a, b),
        ("mul", x * y, a, b), *((("div", x / y, a, b), ("rcp", 1 / y, b)) if b else ()),
    ):  # fmt: skip
        same(compute(f"{name}.{mode}.f64", *sources)[0], round_to(exact, mode, 53, -1074))


@pytest.mark.parametrize("mode", MODES)
def test_root_of_a_double(mode):
    # The root of 2 lies between two neighbours: the lower one's square is below 2.
    found = float(compute(f"sqrt.{mode}.f64", 2.0)[0])
    exact_is_above = Fraction(found) ** 2 < 2
    nearest = math.sqrt(2.0)
    above = math.nextafter(nearest, 3.0) if Fraction(nearest) ** 2 < 2 else nearest
    assert exact_is_above == (mode != "rp" and found != above)
    assert found == {"rn": nearest, "rp": above}.get(mode, math.nextafter(above, 0.0))


@pytest.mark.parametrize("mode", MODES)
@QUICK
@given(a=st.integers(-(2**63), 2**63 - 1), b=st.integers(0, 2**64 - 1), c=DOUBLES, d=DOUBLES)
def test_conversions_that_round(mode, a, b, c, d):
    for name, value in (("s64", a), ("u64", b), ("s32", a >> 32), ("u32", b >> 32)):
        same(compute(f"cvt.{mode}.f32.{name}", value)[0], single(Fraction(value), mode))
        exact = round_to(Fraction(value), mode, 53, -1074)
        same(compute(f"cvt.{mode}.f64.{name}", value)[0], exact)
    same(compute(f"cvt.{mode}.f32.f64", c)[0], single(Fraction(c), mode))
    exact = round_to(Fraction(c) + Fraction(d), mode, 53, -1074)
    same(compute(f"add.{mode}.f64", c, d)[0], exact)


ROUND = {"rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil, "rni": round}


@pytest.mark.parametrize("mode", ROUND)
@pytest.mark.parametrize("to", ["s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"])
@QUICK
@given(
    value=st.one_of(FLOATS, st.floats(-300, 300, width=32), st.sampled_from([2.0**63, -(2.0**31)]))
)
def test_float_to_integer_clamps(mode, to, value):
    bits = int(to[1:])
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if to[0] == "s" else (0, (1 << bits) - 1)
    for source in ("f32", "f64"):
        found = compute(f"cvt.{mode}.{to}.{source}", value).item()
        assert found == max(low, min(high, ROUND[mode](value)))


def test_float_to_integer_of_what_is_no_number():
    nan, infinity = float("nan"), float("inf")
    assert compute("cvt.rzi.s32.f32", nan).item() == 0
    assert compute("cvt.rzi.s64.f64", nan).item() == -(2**63)
    assert compute("cvt.rzi.u32.f32", infinity).item() == 2**32 - 1
    assert compute("cvt.rzi.s32.f32", -infinity).item() == -(2**31)


@QUICK
@given(value=st.integers(-(2**63), 2**63 - 1))
def test_integer_to_integer(value):
    for to in ("s8", "u8", "s16", "u16", "s32", "u32", "u64"):
        bits = int(to[1:])
        signed = to[0] == "s"
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        assert compute(f"cvt.sat.{to}.s64", value).item() == max(low, min(high, value))
        wrapped = value % 2**bits
        if signed and wrapped > high:
            wrapped -= 2**bits
        assert compute(f"cvt.{to}.s64", value).item() == wrapped


def bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def test_least_and_greatest():
    nan = float("nan")
    for opcode, pick in (("min", min), ("max", max)):
        assert compute(f"{opcode}.f32", 1.5, -2.0).item() == pick(1.5, -2.0)
        assert compute(f"{opcode}.f32", nan, 3.0).item() == 3.0
        assert math.isnan(compute(f"{opcode}.NaN.f32", nan, 3.0).item())
    for a, b in ((0.0, -0.0), (-0.0, 0.0)):
        assert bits(compute("min.f32", a, b).item()) == 0x80000000
        assert bits(compute("max.f32", a, b).item()) == 0


def test_flush_saturate_and_signs():
    tiny = np.float32(1e-40)
    assert bits(compute("mul.ftz.f32", -tiny, 1.0).item()) == 0x80000000
    assert compute("mul.f32", tiny, 1.0)[0] == tiny
    assert compute("add.sat.f32", 0.75, 0.75).item() == 1.0
    assert compute("add.sat.f32", float("nan"), 0.75).item() == 0.0
    assert compute("copysign.f32", -1.0, 2.0).item() == -2.0
    assert compute("cvt.rzi.f32.f32", -1.75).item() == -1.0
    assert compute("cvt.sat.f32.f32", 1.5).item() == 1.0


def test_approximations_are_close():
    assert compute("rsqrt.approx.f32", 4.0).item() == 0.5
    assert compute("ex2.approx.ftz.f32", 3.0).item() == 8.0
    assert compute("lg2.approx.f32", 8.0).item() == 3.0
    assert compute("sqrt.rn.f32", 2.0)[0] == np.float32(math.sqrt(2))
    assert compute("sin.approx.f32", 1.0)[0] == np.float32(math.sin(1))
    assert compute("cos.approx.f32", 1.0)[0] == np.float32(math.cos(1))


@pytest.mark.parametrize(
    ("test", "values"),
    [
        ("finite", [1.0, 1e-40, 0.0]), ("infinite", [float("inf")]), ("notanumber", [float("nan")]),
        ("number", [1.0, 1e-40, 0.0, float("inf")]), ("normal", [1.0]), ("subnormal", [1e-40]),
    ],
)  # fmt: skip
def test_property_tests(test, values):
    every = [1.0, 1e-40, 0.0, float("inf"), float("nan")]
    found = compute(f"testp.{test}.f32", every)
    expected = [any(v == w or (v != v and w != w) for w in values) for v in every]
    assert found.tolist() == expected


HALVES = st.floats(-8.0, 8.0, width=16)


@QUICK
@given(
    name=st.sampled_from(["add", "sub", "mul", "min", "max", "fma"]),
    values=st.lists(HALVES, min_size=6, max_size=6),
)
def test_pairs_of_halves_are_two_halves(name, values):
    rounding = ".rn" if name == "fma" else ""
    words = np.array(values, np.float16).reshape(3, 2)
    sources = words if name == "fma" else words[:2]
    found = compute(f"{name}{rounding}.f16x2", *(row.view(np.uint32) for row in sources))
    halves = compute(f"{name}{rounding}.f16", *sources).astype(np.float16)
    assert found == halves.view(np.uint32)
