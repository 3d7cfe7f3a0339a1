"""Chains of carries against Python's integers: one instruction, and whole sums and products."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.gpu.ptx_kernels import QUICK, Run, compute

TYPES = ("u32", "s32", "u64", "s64")
EDGES = (0, 1, 2, -1, -2, 1 << 31, (1 << 31) - 1, 1 << 63, (1 << 63) - 1)
VALUES = st.one_of(st.sampled_from(EDGES), st.integers(0, (1 << 64) - 1))
EXACT = {
    "add": lambda a, b, c, carry: a + b + carry,
    "sub": lambda a, b, c, carry: a - b - carry,
    "mad.lo": lambda a, b, c, carry: c + carry,
    "mad.hi": lambda a, b, c, carry: c + carry,
}


@pytest.mark.parametrize("type_name", TYPES)
@pytest.mark.parametrize("name", EXACT)
@QUICK
@given(a=VALUES, b=VALUES, c=VALUES, carry=st.booleans())
def test_one_of_a_chain(name, type_name, a, b, c, carry):
    size = int(type_name[1:])
    modulus = 1 << size
    a, b, c = a % modulus, b % modulus, c % modulus
    opcode, *part = name.split(".")
    dtype = f"{'i' if type_name[0] == 's' else 'u'}{size // 8}"
    sources = [
        np.array([value], f"u{size // 8}").view(dtype) for value in (a, b, c)[: 3 if part else 2]
    ]
    if part:
        signed = [x - modulus if type_name[0] == "s" and x >= modulus // 2 else x for x in (a, b)]
        product = signed[0] * signed[1]
        added = (product if part == ["lo"] else product >> size) % modulus
        exact = {False: added + c, True: added + c + carry}
    else:
        exact = {taken: EXACT[name](a, b, c, carry and taken) for taken in (False, True)}
    for taken in (False, True):
        suffix = ".".join([opcode + "c" * taken, *part, "cc", type_name])
        found, out = compute(suffix, *sources, *[carry] * taken, two_results=True)
        assert int(found.view(f"u{size // 8}")[0]) == exact[taken] % modulus
        assert bool(out[0]) == (not 0 <= exact[taken] < modulus)
        last = ".".join([opcode + "c" * taken, *part, *["cc"] * (not taken), type_name])
        if taken:
            assert compute(last, *sources, carry).view(f"u{size // 8}") == exact[True] % modulus


def test_a_chain_of_instructions_in_lanes_that_differ():
    """Sums, differences and products of 128 bits, in half of the lanes."""
    random = np.random.default_rng(1)
    words = random.integers(0, 1 << 32, (64,), np.uint32)
    body = """
        and.b32 %r20, %r31, 1; setp.eq.u32 %p1, %r20, 0; @%p1 bra DONE;
        ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d31]; xor.b32 %r1, %r1, %r31;
        ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%d31+16];
        add.cc.u32 %r9, %r1, %r5; addc.cc.u32 %r10, %r2, %r6;
        addc.cc.u32 %r11, %r3, %r7; addc.u32 %r12, %r4, %r8;
        sub.cc.u32 %r13, %r1, %r5; subc.cc.u32 %r14, %r2, %r6;
        subc.cc.u32 %r15, %r3, %r7; subc.u32 %r16, %r4, %r8;
        mul.lo.u32 %r17, %r1, %r5; mul.hi.u32 %r18, %r1, %r5; mov.u32 %r19, 0;
        mad.lo.cc.u32 %r18, %r2, %r5, %r18; madc.hi.u32 %r19, %r2, %r5, %r19; mov.u32 %r20, 0;
        mad.lo.cc.u32 %r18, %r1, %r6, %r18; madc.hi.cc.u32 %r19, %r1, %r6, %r19;
        addc.u32 %r20, %r20, 0;
        mad.lo.cc.u32 %r19, %r2, %r6, %r19; madc.hi.u32 %r20, %r2, %r6, %r20;
        mul.lo.u32 %r21, %r31, 48; cvt.u64.u32 %d1, %r21; add.u64 %d1, %d1, %d30;
        st.global.v4.u32 [%d1], {%r9, %r10, %r11, %r12};
        st.global.v4.u32 [%d1+16], {%r13, %r14, %r15, %r16};
        st.global.v4.u32 [%d1+32], {%r17, %r18, %r19, %r20};
        DONE:
    """
    out = Run(body, words=32 * 12, data=words).out().reshape(32, 3, 4)

    def number(values):
        return sum(int(value) << 32 * at for at, value in enumerate(values))

    for lane in range(1, 32, 2):
        a = words[:4].copy()
        a[0] ^= lane
        x, y = number(a), number(words[4:8])
        half = (1 << 64) - 1
        exact = [x + y, x - y, (x & half) * (y & half)]
        assert [number(row) for row in out[lane]] == [value % (1 << 128) for value in exact]
    assert not out[::2].any()


@QUICK
@given(a=VALUES, b=VALUES, c=VALUES)
@pytest.mark.parametrize("letter", "us")
def test_products_of_24_bits(letter, a, b, c):
    def cut(value):
        value &= 0xFFFFFF
        return value - (1 << 24) if letter == "s" and value >> 23 else value

    dtype = f"{'i' if letter == 's' else 'u'}4"
    sources = [np.array([x & 0xFFFFFFFF], "u4").view(dtype) for x in (a, b, c)]
    for part, shift in (("lo", 0), ("hi", 16)):
        exact = cut(a) * cut(b) >> shift
        found = compute(f"mul24.{part}.{letter}32", *sources[:2]).view("u4")[0]
        assert found == exact % (1 << 32)
        found = compute(f"mad24.{part}.{letter}32", *sources).view("u4")[0]
        assert found == (exact + c) % (1 << 32)
