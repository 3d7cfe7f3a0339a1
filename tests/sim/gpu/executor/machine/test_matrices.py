"""Matrix products of a warp against NumPy's, with elements where PTX says in words."""

import numpy as np
import pytest

from racetrap.sim.gpu.executor.machine.matrices import MatrixProduct, distribute, mma_fragments
from racetrap.sim.gpu.oracle.rules import run_oracle
from racetrap.sim.gpu.ptx.errors import PtxError
from tests.support.gpu.ptx_kernels import Run

#: Element types with a size of each, and how many elements a register has.
FORMS = [
    ("f16", 8, 2), ("f16", 16, 2), ("bf16", 16, 2), ("tf32", 4, 1), ("tf32", 8, 1), ("s8", 16, 4),
    ("u8", 32, 4),
]  # fmt: skip
CODES = {"f16": "f2", "s8": "i1", "u8": "u1"}


def encoded(matrix, name):
    """Elements as memory has them: the upper half of f32 for bf16, all of it for tf32."""
    if name in CODES:
        return matrix.astype(CODES[name])
    bits = matrix.astype(np.float32).view(np.uint32)
    return (bits >> 16).astype(np.uint16) if name == "bf16" else bits


def left_registers(matrix, packed):
    """Register n of lane l: row l / 4, 8 further if n is odd; a quarter of a row's part."""
    columns = matrix.shape[1]
    return [
        np.stack([
            matrix[lane // 4 + 8 * (n % 2), n // 2 * 4 * packed + lane % 4 * packed:][:packed]
            for lane in range(32)
        ]) for n in range(columns // packed // 2)
    ]  # fmt: skip


def words(parts):
    return [np.ascontiguousarray(part).view(np.uint32).reshape(-1) for part in parts]


@pytest.mark.parametrize(("name", "inner", "packed"), FORMS)
def test_products(name, inner, packed):
    random = np.random.default_rng(inner)
    low = 0 if name == "u8" else -4
    a, b = random.integers(low, 5, (16, inner)), random.integers(low, 5, (inner, 8))
    c = random.integers(-9, 9, (16, 8))
    total = "s32" if name in ("s8", "u8") else "f32"
    product = MatrixProduct(mma_fragments(inner, name), total, name, name, total)
    left = words(left_registers(encoded(a, name), packed))
    # The second matrix has columns where the first has its upper rows.
    transposed = np.concatenate([encoded(b, name).T] * 2)
    right = words(left_registers(transposed, packed)[::2])
    dtype = np.int32 if total == "s32" else np.float32
    added = c.astype(dtype)
    sums = [
        np.array([added[lane // 4 + 8 * (n // 2), lane % 4 * 2 + n % 2] for lane in range(32)])
        for n in range(4)
    ]
    found = product(*left, *right, *(row.view(np.uint32) for row in sums))
    result = np.zeros((16, 8), dtype)
    for n in range(4):
        for lane in range(32):
            result[lane // 4 + 8 * (n // 2), lane % 4 * 2 + n % 2] = found[n].view(dtype)[lane]
    assert (result == a @ b + c).all()


def test_sums_that_do_not_fit_are_clamped_or_wrap():
    left, right = [np.full(32, 0x7F7F7F7F, np.uint32)] * 2, [np.full(32, 0x7F7F7F7F, np.uint32)]
    added = [np.full(32, 0x7FFFFFFF, np.uint32)] * 4
    for clamps, value in ((True, 0x7FFFFFFF), (False, 0x7FFFFFFF + 16 * 127 * 127)):
        product = MatrixProduct(mma_fragments(16, "s8"), "s32", "s8", "s8", "s32", clamps=clamps)
        assert (product(*left, *right, *added)[0] == value % (1 << 32)).all()


@pytest.mark.parametrize("transposed", [False, True])
def test_loaded_matrices(transposed):
    halves = np.arange(256, dtype=np.uint16).reshape(32, 8)
    rows = list(np.ascontiguousarray(halves).view(np.uint32).T)
    for number, register in enumerate(distribute(rows, 4, transposed)):
        matrix = halves[8 * number : 8 * number + 8]
        matrix = matrix.T if transposed else matrix
        for lane in range(32):
            pair = matrix[lane // 4, lane % 4 * 2 :][:2]
            assert register[lane] == int(pair[0]) | int(pair[1]) << 16


#: One warp writes a matrix of 8 rows, reads it again and multiplies it.
BODY = """
    .shared .align 16 .b8 tile[128]; .reg .b32 %x<8>; .reg .f32 %y<4>;
    mov.u32 %r1, tile; shl.b32 %r2, %r31, 2; add.u32 %r3, %r1, %r2;
    mov.u32 %r4, 0x3c003c00; st.shared.u32 [%r3], %r4; {barrier}
    and.b32 %r5, %r31, 7; shl.b32 %r5, %r5, 4; add.u32 %r5, %r1, %r5;
    ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%x1}}, [%r5];
    mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
        {{%y0, %y1, %y2, %y3}}, {{%x1, %x1}}, {{%x1}}, {{%y0, %y1, %y2, %y3}};
    st.global.f32 [%d33], %y3;
"""


@pytest.mark.parametrize(("barrier", "racy"), [("bar.warp.sync -1;", False), ("", True)])
def test_a_kernel_multiplies_what_it_has_stored(barrier, racy):
    found = Run(BODY.format(barrier=barrier), independent_threads=True)
    assert (found.out(np.float32)[:32] == 8).all()
    assert bool(run_oracle(found.device.trace("test"), "causality", True).races) == racy


@pytest.mark.parametrize(
    "text",
    ["mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 {%f1}, {%r1}, {%r1}, {%f1}",
     "mma.sync.aligned.m16n8k64.row.col.s32.b1.b1.s32 {%r1}, {%r1}, {%r1}, {%r1}",
     "ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r1}, [%r1]"],
)  # fmt: skip
def test_other_products_are_refused(text):
    with pytest.raises(PtxError, match="is not supported"):
        Run(text + ";")
