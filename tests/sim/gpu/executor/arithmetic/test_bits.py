"""Logic, shifts and bit fields against Python's integers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.gpu.ptx_kernels import QUICK, compute

WORDS = st.one_of(st.sampled_from([0, 1, 2**31 - 1, 2**31, 2**32 - 1]), st.integers(0, 2**32 - 1))
LONGS = st.one_of(st.sampled_from([0, 1, 2**63, 2**64 - 1]), st.integers(0, 2**64 - 1))
SMALL = st.one_of(st.integers(0, 70), st.sampled_from([255, 256, 2**32 - 1]))


def signed(value, bits):
    return value - (1 << bits) if value >> bits - 1 else value


@QUICK
@given(a=WORDS, b=WORDS, c=WORDS, table=st.integers(0, 255))
def test_three_input_logic(a, b, c, table):
    expected = 0
    for bit in range(32):
        row = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | c >> bit & 1
        expected |= (table >> row & 1) << bit
    assert compute("lop3.b32", a, b, c, table).item() == expected


@QUICK
@given(a=WORDS, b=WORDS)
def test_logic(a, b):
    assert compute("and.b32", a, b).item() == a & b
    assert compute("or.b32", a, b).item() == a | b
    assert compute("xor.b32", a, b).item() == a ^ b
    assert compute("not.b32", a).item() == a ^ 0xFFFFFFFF
    assert compute("cnot.b32", a).item() == int(a == 0)


@pytest.mark.parametrize("bits", [16, 32, 64])
@QUICK
@given(data=st.data())
def test_shifts_clamp(bits, data):
    a, count = data.draw(st.integers(0, 2**bits - 1)), data.draw(SMALL)
    clamped = min(count, bits)
    assert compute(f"shl.b{bits}", a, count).item() == (a << clamped) % 2**bits
    assert compute(f"shr.u{bits}", a, count).item() == a >> clamped
    value = signed(a, bits)
    assert compute(f"shr.s{bits}", value, count).item() == value >> clamped


@pytest.mark.parametrize("mode", ["wrap", "clamp"])
@QUICK
@given(low=WORDS, high=WORDS, count=SMALL)
def test_funnel_shift(mode, low, high, count):
    amount = count % 32 if mode == "wrap" else min(count, 32)
    both = high << 32 | low
    assert compute(f"shf.r.{mode}.b32", low, high, count).item() == (both >> amount) % 2**32
    assert compute(f"shf.l.{mode}.b32", low, high, count).item() == (both << amount >> 32) % 2**32


@pytest.mark.parametrize("mode", ["wrap", "clamp"])
@QUICK
@given(a=SMALL, b=SMALL)
def test_mask(mode, a, b):
    """Ones from bit a on, b of them; what lies above the register is lost."""
    first, count = (a % 32, b % 32) if mode == "wrap" else (a, b)
    ones = sum(1 << bit for bit in range(first, min(first + count, 32)))
    assert compute(f"bmsk.{mode}.b32", a, b).item() == ones


@pytest.mark.parametrize("bits", [32, 64])
@QUICK
@given(data=st.data())
def test_extract(bits, data):
    a = data.draw(st.integers(0, 2**bits - 1))
    position, length = data.draw(SMALL), data.draw(SMALL)
    start, count = position & 0xFF, length & 0xFF
    top = a >> min(start + count - 1, bits - 1) & 1 if count else 0
    for kind in "us":
        fill = top if kind == "s" else 0
        expected = 0
        for bit in range(bits):
            inside = bit < count and start + bit < bits
            expected |= (a >> start + bit & 1 if inside else fill) << bit
        value = signed(a, bits) if kind == "s" else a
        found = compute(f"bfe.{kind}{bits}", value, position, length).item()
        assert found % 2**bits == expected


@pytest.mark.parametrize("bits", [32, 64])
@QUICK
@given(data=st.data())
def test_insert(bits, data):
    a, b = (data.draw(st.integers(0, 2**bits - 1)) for _ in range(2))
    position, length = data.draw(SMALL), data.draw(SMALL)
    expected = b
    for bit in range(length & 0xFF):
        place = bit + (position & 0xFF)
        if place < bits:
            expected = expected & ~(1 << place) | (a >> bit & 1) << place
    assert compute(f"bfi.b{bits}", a, b, position, length).item() == expected


@pytest.mark.parametrize(("bits", "values"), [(32, WORDS), (64, LONGS)])
@QUICK
@given(data=st.data())
def test_counts(bits, values, data):
    a = data.draw(values)
    assert compute(f"popc.b{bits}", a).item() == a.bit_count()
    assert compute(f"clz.b{bits}", a).item() == bits - a.bit_length()
    assert compute(f"brev.b{bits}", a).item() == int(f"{a:0{bits}b}"[::-1], 2)
    assert compute(f"bfind.u{bits}", a).item() == (a.bit_length() - 1) % 2**32
    value = signed(a, bits)
    magnitude = ~value if value < 0 else value
    assert compute(f"bfind.s{bits}", value).item() == (magnitude.bit_length() - 1) % 2**32
    shift = bits - a.bit_length() if a else 2**32 - 1
    assert compute(f"bfind.shiftamt.u{bits}", a).item() == shift


@QUICK
@given(a=WORDS, b=WORDS, selector=WORDS)
def test_permute(a, b, selector):
    octets = [(b << 32 | a) >> 8 * n & 0xFF for n in range(8)]
    expected = 0
    for byte in range(4):
        nibble = selector >> 4 * byte & 0xF
        value = octets[nibble & 7]
        expected |= (0xFF * (value >> 7) if nibble & 8 else value) << 8 * byte
    assert compute("prmt.b32", a, b, selector).item() == expected


@pytest.mark.parametrize(
    ("mode", "start", "expected"),
    [
        ("f4e", 1, 0x55443322), ("b4e", 1, 0x77881122), ("rc8", 2, 0x33333333),
        ("ecl", 2, 0x44333333), ("ecr", 1, 0x22222211), ("rc16", 1, 0x44334433),
    ],
)  # fmt: skip
def test_permute_modes(mode, start, expected):
    assert compute(f"prmt.b32.{mode}", 0x44332211, 0x88776655, start).item() == expected
