"""Reference results of the workloads against simpler computations."""

import numpy as np

from racetrap.sim.gpu.workloads.graph_connectivity import smallest_of_component
from racetrap.sim.gpu.workloads.rmat import rmat_edges
from racetrap.sim.gpu.workloads.rule_110 import next_cells
from racetrap.sim.gpu.workloads.unbalanced_tree_search import count_nodes


def test_components_are_those_of_union_find():
    for seed in range(20):
        edges = rmat_edges(60, 45, np.random.default_rng(seed))
        parents = list(range(60))

        def root(vertex, parents=parents):
            while parents[vertex] != vertex:
                vertex = parents[vertex]
            return vertex

        for one, other in edges.tolist():
            low, high = sorted((root(one), root(other)))
            parents[high] = low
        assert smallest_of_component(60, edges).tolist() == [root(v) for v in range(60)]


def test_rule_110_has_its_published_start():
    cells = np.zeros(8, dtype=np.int32)
    cells[-1] = 1
    rows = []
    for _ in range(6):
        rows.append("".join(map(str, cells)))
        cells = next_cells(cells)
    assert rows == ["00000001", "00000011", "00000111", "00001101", "00011111", "00110001"]


def mixed(value):
    value = (value ^ value >> 16) * 0x7FEB352D % 2**32
    value = (value ^ value >> 15) * 0x846CA68B % 2**32
    return value ^ value >> 16


def visit(node, level, levels):
    """Nodes and leaves below a node, depth first."""
    children = 0 if level == levels else mixed(node) % 7
    below = [
        visit(mixed((node + k * 0x9E3779B9) % 2**32) % 2**28 + (level + 1 << 28), level + 1, levels)
        for k in range(1, children + 1)
    ]
    return 1 + sum(nodes for nodes, _ in below), sum(leaves for _, leaves in below) or 1


def test_nodes_are_those_of_a_depth_first_search():
    roots = [(1 << 28) + 12345 * number for number in range(10)]
    nodes, leaves = zip(*(visit(root, 1, 5) for root in roots), strict=True)
    assert count_nodes(np.array(roots, dtype=np.uint32), 5) == (sum(nodes), sum(leaves))
    assert sum(nodes) > 300
