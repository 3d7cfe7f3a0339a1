"""Clusters of blocks: registers, addresses, the barrier, and what is refused."""

import re

import numpy as np
import pytest

from racetrap.golden_model.events import EventScope, MemoryOrder
from racetrap.sim.gpu.executor.cluster_shape import ClusterError, cluster_shape
from racetrap.sim.gpu.executor.machine.errors import ExecutionError, KernelFault
from racetrap.sim.gpu.ptx.errors import PtxError
from racetrap.sim.gpu.ptx.parser import parse_ptx
from tests.support.gpu.ptx_kernels import GEOMETRY, Run

_SHAPES = ("clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid")
WAIT = "barrier.cluster.arrive; barrier.cluster.wait;"
_STORE = "mul.wide.u32 %d1, %r32, 4; add.u64 %d2, %d30, %d1; st.global.u32 [%d2], %r1;"


@pytest.mark.parametrize(
    ("grid", "cluster"), [((4, 2, 2), (2, 2, 1)), ((2, 2, 2), (1, 2, 2)), (6, 3)]
)
def test_registers(grid, cluster):
    shape, size = (tuple(np.atleast_1d(each)) + (1, 1) for each in (grid, cluster))
    shape, size = shape[:3], size[:3]
    names = [
        *(f"{name}.{axis}" for name in _SHAPES for axis in "xyz"), "cluster_ctarank",
        "cluster_nctarank",
    ]  # fmt: skip
    blocks = int(np.prod(shape))
    read = "".join(
        f"mov.u32 %r1, %{name}; st.global.u32 [%d2+{4 * number}], %r1;"
        for number, name in enumerate(names)
    )
    run = Run(
        "mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ctaid.z; mov.u32 %r4, %nctaid.x; "
        "mov.u32 %r5, %nctaid.y; mad.lo.u32 %r6, %r3, %r5, %r2; mad.lo.u32 %r6, %r6, %r4, %r32;"
        f"mul.wide.u32 %d1, %r6, {4 * (len(names) + 1)}; add.u64 %d2, %d30, %d1; {read}"
        "mov.pred %p1, %is_explicit_cluster; selp.u32 %r1, 1, 0, %p1;"
        f"st.global.u32 [%d2+{4 * len(names)}], %r1;",
        grid=grid,
        block=1,
        cluster=cluster,
        words=blocks * (len(names) + 1),
    )
    expected = []
    for z, y, x in np.ndindex(shape[::-1]):
        at = np.array((x, y, z))
        inside = at % size
        rank = inside[0] + size[0] * (inside[1] + size[1] * inside[2])
        expected.append([
            *(at // size), *(np.array(shape) // size), *inside, *size, rank, np.prod(size), 1,
        ])  # fmt: skip
    np.testing.assert_array_equal(run.out().reshape(blocks, -1), expected)


@pytest.mark.parametrize(("cluster", "explicit"), [(None, 0), (1, 1)])
def test_a_block_alone_is_a_cluster(cluster, explicit):
    run = Run(
        ".shared .align 4 .b32 word; mov.u32 %r2, word; mapa.shared::cluster.u32 %r3, %r2, 0;"
        "st.shared::cluster.u32 [%r3], 5; barrier.cluster.arrive; barrier.cluster.wait.acquire;"
        "ld.shared.u32 %r1, [word]; mov.pred %p1, %is_explicit_cluster; @%p1 add.u32 %r1, %r1, 1;"
        "getctarank.shared::cluster.u32 %r4, %r3; add.u32 %r1, %r1, %r4;" + _STORE,
        grid=2,
        block=1,
        cluster=cluster,
    )
    assert run.out()[:2].tolist() == [5 + explicit] * 2


def test_addresses():
    """Addresses of other blocks, in both windows: their ranks and state spaces."""
    run = Run(
        ".shared .align 4 .b8 words[16]; mov.u64 %d3, words; cvta.shared.u64 %d3, %d3;"
        "mov.u32 %r2, %cluster_ctarank; xor.b32 %r3, %r2, 1; mapa.u64 %d4, %d3, %r3;"
        "getctarank.u64 %r1, %d4; getctarank.u64 %r4, %d3; mad.lo.u32 %r1, %r4, 10, %r1;"
        "isspacep.shared::cluster %p1, %d4; @%p1 add.u32 %r1, %r1, 100;"
        "isspacep.shared::cta %p1, %d4; @%p1 add.u32 %r1, %r1, 1000;"
        "isspacep.shared %p1, %d3; @%p1 add.u32 %r1, %r1, 200;"
        "isspacep.global %p1, %d30; @%p1 add.u32 %r1, %r1, 400;"
        "isspacep.local %p1, %d30; @%p1 add.u32 %r1, %r1, 2000;"
        "cvta.to.shared.u64 %d5, %d4; cvt.u32.u64 %r5, %d5;"
        "st.shared::cluster.u32 [%r5+8], %r1;"
        + WAIT
        + "ld.shared.u32 %r1, [words+8];"
        + _STORE
        + WAIT,
        grid=2,
        block=1,
        cluster=2,
    )
    assert run.out()[:2].tolist() == [710, 701]


def test_exited_threads_are_not_awaited():
    run = Run(
        "setp.eq.u32 %p1, %r32, 1; @%p1 ret;" + WAIT + "mov.u32 %r1, 7;" + _STORE,
        grid=2,
        block=64,
        cluster=2,
    )
    assert run.out()[:2].tolist() == [7, 0]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("barrier.cluster.arrive; barrier.cluster.arrive;", "must wait at the barrier"),
        ("barrier.cluster.wait;", "must arrive at the barrier"),
        ("mov.u32 %r2, 2; mapa.shared::cluster.u32 %r1, %r2, %r2;", "Rank of mapa must be below 2"),
        (
            ".shared .b32 w; mov.u32 %r2, w; mapa.shared::cluster.u32 %r1, %r2, 1; "
            "ld.shared.u32 %r3, [%r1];", "inside the 4 bytes of its own block's shared memory",
        ),
        (
            ".shared .b32 w; mov.u32 %r2, w; add.u32 %r2, %r2, 0x3000000; "
            "ld.shared::cluster.u32 %r3, [%r2];", "one of the 2 blocks of the cluster",
        ),
        ("setp.eq.u32 %p1, %r32, 0; @%p1 bra END; barrier.cluster.arrive; barrier.cluster.wait; "
         "END: @%p1 bra END;", "the barrier of its cluster"),
    ],
)  # fmt: skip
def test_what_threads_must_not_do(body, sentence):
    with pytest.raises(KernelFault, match=sentence):
        Run(body, grid=2, block=1, cluster=2, instruction_limit=1000)


def test_events_of_the_barrier():
    body = "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned;"
    run = Run(body + WAIT, grid=2, block=40, cluster=2)
    arrivals, waits = run.events("CLUSTER_ARRIVE"), run.events("CLUSTER_WAIT")
    assert len(arrivals) == len(waits) == 8
    orders = [event.order for event in arrivals]
    assert (orders.count(MemoryOrder.RELAXED), orders.count(MemoryOrder.RELEASE)) == (4, 4)
    assert {event.mask for event in waits} == {0xFFFFFFFF, 0xFF}
    assert [event.size for event in run.events("BLOCK_PLACED")] == [0, 1]


@pytest.mark.parametrize(("cluster", "scope"), [(None, EventScope.BLOCK), (2, EventScope.CLUSTER)])
def test_the_scope_of_a_block_alone_is_that_of_the_block(cluster, scope):
    run = Run(
        "st.release.cluster.u32 [%d33], 1; fence.acq_rel.cluster;"
        "atom.cluster.add.u32 %r1, [%d33], 1;",
        grid=2,
        block=1,
        cluster=cluster,
    )
    found = {event.scope for event in run.events("STORE", "FENCE", "ATOMIC")}
    assert found == {scope}


def _kernel(directives):
    text = f".version 9.0\n.target sm_90\n.address_size 64\n.entry k () {directives} {{ ret; }}"
    return parse_ptx(text, "k.ptx").functions["k"]


@pytest.mark.parametrize(
    ("directives", "grid", "asked", "shape"),
    [
        ("", 4, None, None),
        ("", 4, 2, (2, 1, 1)),
        (".explicitcluster .reqnctapercluster 2, 2", (4, 2, 1), None, (2, 2, 1)),
        (".reqnctapercluster 2", 4, 2, (2, 1, 1)),
        (".maxclusterrank 8", 8, 8, (8, 1, 1)),
    ],
)
def test_shapes(directives, grid, asked, shape):
    grid = (grid, 1, 1) if isinstance(grid, int) else grid
    assert cluster_shape(_kernel(directives), grid, asked) == shape


@pytest.mark.parametrize(
    ("directives", "grid", "asked", "sentence"),
    [
        (".explicitcluster", 4, None, "must give the shape of its clusters"),
        (".reqnctapercluster 2", 4, 4, "must be 2, as it declares, not 4"),
        (".maxclusterrank 2", 4, 4, "at most 2 blocks, not 4"),
        ("", 64, 32, "at most 16 blocks, not 32"),
        ("", 6, 4, "whole clusters of 4 blocks, not 6"),
        ("", 4, 0, "Cluster must be one to three numbers of at least 1"),
        (
            ".blocksareclusters .reqntid 32 .reqnctapercluster 2",
            4,
            None,
            "of blocks, not of clusters",
        ),
    ],
)
def test_shapes_that_are_refused(directives, grid, asked, sentence):
    with pytest.raises(ClusterError, match=sentence):
        cluster_shape(_kernel(directives), (grid, 1, 1), asked)


def test_a_cluster_must_fit_at_once():
    with pytest.raises(ExecutionError, match="Cluster has 16 blocks, but only 8 fit at once"):
        Run("", grid=16, block=32, cluster=16)
    assert GEOMETRY.sm_count * GEOMETRY.blocks_per_sm == 8


@pytest.mark.parametrize(
    "instruction",
    [
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3];",
        "red.async.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r2, [%r3];",
        "cp.async.bulk.shared::cluster.shared::cta [%r1], [%r2], 16, [%r3];",
        "barrier.cluster.sync;",
        "mapa.global.u64 %d1, %d2, 1;",
    ],
)
def test_what_is_not_there_is_refused_by_name(instruction):
    name = instruction.rstrip(";").partition(" ")[0]
    with pytest.raises(PtxError, match=re.escape(f"Instruction {name} is not supported")):
        Run(instruction, grid=2, block=1, cluster=2)
