"""The seven applications of the ScoR suite as C kernels for Vortex, and what each must give.

Ref: ScoRD (ISCA'20) Tables II and VI.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np

from racetrap.sim.cosim.vortex.kernel_image import KERNELS, KernelImage, compile_kernel
from racetrap.sim.gpu.workloads import graph_coloring, graph_connectivity
from racetrap.sim.gpu.workloads.registry import WORKLOADS
from racetrap.sim.gpu.workloads.unbalanced_tree_search import count_nodes

#: Folder of the kernels.
FOLDER = KERNELS / "applications"
#: Blocks of each, which are all resident on four cores, and threads of a block.
BLOCKS, THREADS = 4, 16
#: Phase and error of the switches of those with work queues.
_SWITCHED = {"GCOL": graph_coloring.SWITCHED, "GCON": graph_connectivity.SWITCHED}


@dataclass(frozen=True)
class Application:
    """An application on Vortex.

    Parameters
    ----------
    name : str
        As in the paper's tables.
    source : Path
        The kernel in C.
    launches : int
        How often it is launched; the graph applications have three phases in turn.
    is_right : callable
        Whether words are the kernel's result.
    """

    name: str
    source: Path
    launches: int
    is_right: Callable[[list[int]], bool]

    @property
    def switches(self) -> Mapping[str, str]:
        """Race switches, as the suite names them, and the macro of each."""
        names = [switch.name for switch in WORKLOADS[self.name].switches]
        if self.name not in _SWITCHED:
            return {name: name.upper().replace("-", "_") for name in names}
        kernels = list(dict.fromkeys(kernel for kernel, _ in _SWITCHED[self.name]))
        return {
            name: f"{error.name}={kernels.index(kernel)}"
            for name, (kernel, error) in zip(names, _SWITCHED[self.name], strict=True)
        }

    def compile(self, switch: str = "") -> KernelImage:
        """The kernel with a race switch on, or with none."""
        return compile_kernel(self.source, [self.switches[switch]] if switch else [])


def _numbers(first: int, count: int) -> np.ndarray:
    """Inputs, as ``numbers.h`` has them."""
    mixed = np.arange(first + 1, first + count + 1, dtype=np.uint32) * np.uint32(0x9E3779B1)
    return (mixed ^ mixed >> np.uint32(15)) * np.uint32(0x2C1B3C6D) >> np.uint32(12)


def _is(due: np.ndarray) -> Callable[[list[int]], bool]:
    words = due.astype(np.uint32).tolist()
    return lambda result: result == words


def _product() -> np.ndarray:
    return (_numbers(0, 64).reshape(4, 16) @ _numbers(64, 64).reshape(16, 4)).ravel()


def _steps_of_rule_110(steps: int) -> np.ndarray:
    cells = _numbers(0, 128) & 1
    for _ in range(steps):
        around = np.pad(cells, 1)
        cells = 110 >> (around[:-2] << 2 | cells << 1 | around[2:]) & 1
    return cells


def _convolution() -> np.ndarray:
    # Of "full" convolution the middle, with the tap of the middle at each output.
    return np.convolve(_numbers(0, 64), _numbers(64, 9))[4:68]


def _ends(edges: int, vertices: int) -> Sequence[tuple[int, int]]:
    return [tuple(pair) for pair in (_numbers(0, 2 * edges) % vertices).reshape(-1, 2).tolist()]


def _components(edges: int, vertices: int) -> np.ndarray:
    least = list(range(vertices))
    for _ in range(vertices):
        for one, other in _ends(edges, vertices):
            least[one] = least[other] = min(least[one], least[other])
    return np.array(least)


def _is_colored(result: list[int]) -> bool:
    # Those that clashed in the last round have no colour.
    ends = _ends(128, 128)
    clash = any(result[one] and result[one] == result[other] for one, other in ends if one != other)
    return all(color.bit_count() <= 1 for color in result) and not clash


def _are_counted(result: list[int]) -> bool:
    nodes = sum(result[::2]), sum(result[1::2])
    return nodes == count_nodes(_numbers(0, 8) | np.uint32(1 << 28), 3)


#: By name, in the order of the paper's Table VI.
APPLICATIONS: Mapping[str, Application] = MappingProxyType({
    name: Application(name, FOLDER / f"{stem}.c", launches, is_right)
    for name, stem, launches, is_right in (
        ("MM", "matrix_multiplication", 1, _is(_product())),
        ("RED", "reduction", 1, _is(_numbers(0, 256).sum(keepdims=True))),
        ("R110", "rule_110", 3, _is(_steps_of_rule_110(3))),
        ("GCOL", "graph_coloring", 9, _is_colored),
        ("GCON", "graph_connectivity", 3, _is(_components(128, 192))),
        ("1DC", "convolution_1d", 1, _is(_convolution())),
        ("UTS", "unbalanced_tree_search", 1, _are_counted),
    )
})  # fmt: skip
