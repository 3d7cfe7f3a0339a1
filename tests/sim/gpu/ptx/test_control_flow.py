"""Points of reconvergence: shapes made by hand, and any graph against the definition."""

import random

import pytest

from racetrap.sim.gpu.ptx.control_flow import immediate_post_dominators, reconvergence
from racetrap.sim.gpu.ptx.parser import parse_ptx
from tests.support.gpu.ptx_text import HEADER, kernel_text

# Each body ends with work after what it shows, so that the end of the kernel is not the answer.
_AFTER = "\nadd.u32 %r1, %r1, 1;\nadd.u32 %r1, %r1, 1; ret;"


def _points(body: str) -> dict[int, int | None]:
    """Index of each guarded or indexed branch, with its point."""
    function = parse_ptx(kernel_text(body), "test.ptx").functions["k"]
    points = reconvergence(function)
    return {
        index: points[index]
        for index, instruction in enumerate(function.instructions)
        if instruction.guard or instruction.opcode == "brx"
    }


@pytest.mark.parametrize(
    ("body", "points"),
    [
        pytest.param("@%p1 bra A; mov.u32 %r1, 1; A:" + _AFTER, {0: 2}, id="if"),
        pytest.param(
            "@%p1 bra A; mov.u32 %r1, 1; bra B; A: mov.u32 %r1, 2; B:" + _AFTER,
            {0: 4},
            id="if-else",
        ),
        pytest.param(
            "@%p1 bra A; @!%p2 bra B; mov.u32 %r1, 1; B: mov.u32 %r1, 2; A:" + _AFTER,
            {0: 4, 1: 3},
            id="nested",
        ),
        pytest.param("A: add.u32 %r1, %r1, 1; @%p1 bra A;" + _AFTER, {1: 2}, id="loop"),
        pytest.param(
            "A: @%p1 bra B; add.u32 %r1, %r1, 1; @%p2 bra C; bra A; B: mov.u32 %r1, 1; C:" + _AFTER,
            {0: 5, 2: 5},
            id="loop-with-two-exits",
        ),
        pytest.param(
            "@%p1 bra B; A: add.u32 %r1, %r1, 1; @%p2 bra C; B: add.u32 %r1, %r1, 2; bra A; C:"
            + _AFTER,
            {0: 1, 2: 5},
            id="irreducible",
        ),
        pytest.param("@%p1 bra A; B: bra B; A:" + _AFTER, {0: None}, id="endless-side"),
        pytest.param("A: @%p1 bra B; nop; B: nop; bra A;", {0: 2}, id="endless"),
        pytest.param(
            "T: .branchtargets A, B, C; brx.idx %r1, T; A: bra C; B: bra C; C:" + _AFTER,
            {0: 3},
            id="table",
        ),
        pytest.param("@%p1 bra A; ret; A:" + _AFTER, {0: 2}, id="early-return"),
        pytest.param("@%p1 ret; mov.u32 %r1, 1;" + _AFTER, {0: 1}, id="guarded-return"),
        pytest.param(
            "@%p2 bra B; @%p1 bra A; mov.u32 %r1, 1; B: mov.u32 %r1, 1; A: ret;",
            {0: 3, 1: 2},
            id="return-in-branch",
        ),
        pytest.param("@%p1 bra A; ret; A: exit;", {0: None}, id="all-end"),
        pytest.param("@%p1 bra A; A:" + _AFTER, {0: 1}, id="to-next"),
        pytest.param("T: .branchtargets A; brx.idx %r1, T; nop; A:" + _AFTER, {0: 2}, id="one-way"),
        pytest.param("@%p1 bra A; mov.u32 %r1, 1; A:", {0: 1}, id="falls-off-the-end"),
    ],
)
def test_shapes(body, points):
    assert _points(body) == points


def test_return_counts_in_a_device_function():
    """Its lanes come together behind the call, all of them."""
    body = "{ .reg .pred %p<3>; @%p1 bra B; @%p2 ret; nop; B: nop; ret; }"
    function = parse_ptx(f"{HEADER}.func f() {body}", "test.ptx").functions["f"]
    assert reconvergence(function) == (None,) * 5
    kernel = parse_ptx(f"{HEADER}.entry f() {body}", "test.ptx").functions["f"]
    assert reconvergence(kernel) == (3, 2, None, None, None)


def test_function_without_instructions():
    assert reconvergence(parse_ptx(kernel_text(""), "test.ptx").functions["k"]) == ()


def _reaches(edges, start, end, without):
    seen, stack = {start}, [start]
    while stack:
        node = stack.pop()
        if node == end:
            return True
        fresh = [n for n in edges.get(node, ()) if n not in seen and n != without]
        seen.update(fresh)
        stack += fresh
    return False


@pytest.mark.parametrize("seed", range(200))
def test_random_graphs_against_the_definition(seed):
    """A node is a post-dominator of another if without it no path leads to the end; the
    immediate one is that which all the others post-dominate."""
    rng = random.Random(seed)
    size = rng.randrange(1, 12)
    edges = {
        n: sorted(rng.sample(range(size + 1), min(size + 1, rng.randint(1, 3))))
        for n in range(size)
    }
    edges = {n: [size] if not _reaches(edges, n, size, None) else e for n, e in edges.items()}
    found = immediate_post_dominators(edges, size)
    for node in edges:
        strict = [
            other
            for other in [*edges, size]
            if other != node and not _reaches(edges, node, size, other)
        ] + [size]
        nearest = max(
            set(strict),
            key=lambda s: (
                sum(not _reaches(edges, s, size, o) for o in strict if o not in (s, size))
                + (s != size)
            ),
        )
        assert found[node] == nearest, f"seed {seed}, node {node} of {edges}"


def test_large_function_in_little_time():
    """A chain of ten thousand branches, one in the other."""
    size = 10_000
    edges = {n: [n + 1, size] for n in range(size)}
    assert set(immediate_post_dominators(edges, size).values()) == {size}
