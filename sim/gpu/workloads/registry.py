"""The workloads by name: the seven applications of the ScoR suite."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from racetrap.sim.gpu.workloads.base import Workload
from racetrap.sim.gpu.workloads.convolution_1d import CONVOLUTION_1D
from racetrap.sim.gpu.workloads.graph_coloring import GRAPH_COLORING
from racetrap.sim.gpu.workloads.graph_connectivity import GRAPH_CONNECTIVITY
from racetrap.sim.gpu.workloads.matrix_multiplication import MATRIX_MULTIPLICATION
from racetrap.sim.gpu.workloads.reduction import REDUCTION
from racetrap.sim.gpu.workloads.rule_110 import RULE_110
from racetrap.sim.gpu.workloads.unbalanced_tree_search import UNBALANCED_TREE_SEARCH

#: In the order of the paper's Table VI.
WORKLOADS: Mapping[str, Workload] = MappingProxyType({
    workload.name: workload
    for workload in (
        MATRIX_MULTIPLICATION,
        REDUCTION,
        RULE_110,
        GRAPH_COLORING,
        GRAPH_CONNECTIVITY,
        CONVOLUTION_1D,
        UNBALANCED_TREE_SEARCH,
    )
})  # fmt: skip
