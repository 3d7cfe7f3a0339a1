"""Products of tiles by ``wmma`` against NumPy's, from memory to memory."""

import numpy as np
import pytest

from racetrap.sim.gpu.oracle.rules import run_oracle
from racetrap.sim.gpu.ptx.errors import PtxError
from tests.support.gpu.ptx_kernels import Run

#: Types of factors and sums with a shape, and registers of both factors, the added and the result.
FORMS = [
    ("f16", "f32", "f32", (16, 16, 16), (8, 8, 8, 8)),
    ("f16", "f16", "f16", (32, 8, 16), (8, 8, 4, 4)),
    ("f16", "f32", "f16", (8, 32, 16), (8, 8, 8, 4)),
    ("bf16", "f32", "f32", (8, 32, 16), (2, 8, 8, 8)),
    ("tf32", "f32", "f32", (16, 16, 8), (4, 4, 8, 8)),
    ("s8", "s32", "s32", (32, 8, 16), (4, 1, 8, 8)),
    ("u8", "s32", "s32", (16, 16, 16), (2, 2, 8, 8)),
    ("f64", "f64", "f64", (8, 8, 4), (1, 1, 2, 2)),
]
CODES = {
    "f16": "f2", "f32": "f4", "f64": "f8", "s32": "i4", "s8": "i1", "u8": "u1", "bf16": "u2",
    "tf32": "f4",
}  # fmt: skip
#: Bytes from one matrix to the next, and elements from one line to the next: more than any has.
ROOM, LEADING = 4096, 48


def stored(matrix, name, layout):
    """A matrix as memory has it."""
    lines = matrix if layout == "row" else matrix.T
    place = np.zeros((len(lines), LEADING), np.float64)
    place[:, : lines.shape[1]] = lines
    if name == "bf16":
        bits = (place.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).tobytes()
    else:
        bits = place.astype(CODES[name]).tobytes()
    return np.frombuffer(bits.ljust(ROOM * 2, b"\0"), np.uint32)


def vector(letter, first, count):
    return "{" + ", ".join(f"%{letter}{first + n}" for n in range(count)) + "}"


def kernel(form, layouts, space):
    """PTX that multiplies the tiles of the second buffer into the first one."""
    factor, added, result, (m, n, k), counts = form
    shape, letter = f"m{m}n{n}k{k}", "z" if factor == "f64" else "x"
    a, b, c, d = (vector(letter, 8 * i, count) for i, count in enumerate(counts))
    kinds = f"{result}.{added}" if factor == "f16" else f"{result}.{factor}.{factor}.{added}"
    loads = "".join(
        f"wmma.load.{role}.sync.aligned.{layout}.{shape}{space}.{kind} {row}, "
        f"[%d31 + {2 * ROOM * i}], %r1;\n"
        for i, (role, layout, kind, row) in enumerate(
            zip("abc", layouts, (factor, factor, added), (a, b, c), strict=False)
        )
    )
    return f""".reg .b32 %x<32>; .reg .b64 %z<32>; mov.u32 %r1, {LEADING};
        {loads}wmma.mma.sync.aligned.{layouts[0]}.{layouts[1]}.{shape}.{kinds} {d}, {a}, {b}, {c};
        wmma.store.d.sync.aligned.{layouts[3]}.{shape}{space}.{result} [%d30], {d}, %r1;"""


@pytest.mark.parametrize("form", FORMS, ids=lambda form: "-".join(map(str, form[:3])))
@pytest.mark.parametrize("layouts", ["row col row col", "col row col row"])
def test_products_of_tiles(form, layouts):
    factor, added, result, (m, n, k), _ = form
    layouts = layouts.split()
    random, low = np.random.default_rng(k), 0 if factor == "u8" else -4
    a, b = random.integers(low, 5, (m, k)), random.integers(low, 5, (k, n))
    c = random.integers(-9, 9, (m, n))
    data = np.concatenate([
        stored(*each) for each in zip((a, b, c), (factor, factor, added), layouts, strict=False)
    ])  # fmt: skip
    space = ".global" if layouts[0] == "row" else ""
    run = Run(kernel(form, layouts, space), data=data, words=ROOM)
    lines = m if layouts[3] == "row" else n
    found = run.out(CODES[result])[: lines * LEADING].reshape(lines, LEADING)
    found = found[:, : m + n - lines]
    assert np.array_equal(found if layouts[3] == "row" else found.T, a @ b + c)


#: Two warps: the first stores a tile of which the second loads one row after the barrier.
SHARED = """
    .shared .align 32 .f32 tile[256]; .reg .b32 %x<8>; .reg .f32 %y<8>; .reg .pred %q;
    mov.f32 %y0, 0f3f800000; mov.u32 %r1, tile; setp.ge.u32 %q, %r31, 32;
    @%q bra NEXT;
    wmma.store.d.sync.aligned.col.m16n16k16.shared.f32
        [%r1], {{%y0, %y0, %y0, %y0, %y0, %y0, %y0, %y0}};
    NEXT: {barrier}
    shl.b32 %r2, %r31, 2; add.u32 %r2, %r2, %r1; ld.shared.f32 %y1, [%r2];
    st.global.f32 [%d33], %y1;
"""


@pytest.mark.parametrize(("barrier", "racy"), [("bar.sync 0;", False), ("", True)])
def test_stores_of_a_tile_race_without_a_barrier(barrier, racy):
    found = Run(SHARED.format(barrier=barrier), block=64)
    assert racy or (found.out(np.float32)[:64] == 1).all()
    races = run_oracle(found.device.trace("test"), "causality", True).races
    assert bool(races) == racy


@pytest.mark.parametrize(
    "text",
    ["wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1, %r2}, [%d31]",
     "wmma.load.a.sync.aligned.row.m8n8k32.s4 {%r1}, [%d31]",
     "wmma.load.d.sync.aligned.row.m16n16k16.f32 {%r1}, [%d31]",
     "wmma.load.a.sync.aligned.row.m16n16k8.f16 {%r1}, [%d31]",
     "wmma.store.d.sync.aligned.row.m16n16k16.bf16 [%d31], {%r1, %r2, %r3, %r4}",
     "wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r1}, {%r1}, {%r1}, {%r1}"],
)  # fmt: skip
def test_other_tiles_are_refused(text):
    with pytest.raises(PtxError, match="is not supported"):
        Run(text + ";")
