"""Pairs of the suite of constructs, as ``cases.toml`` lists them.

Ref: PTX ISA 9.0, Sections 8 (memory consistency) and 9.7.13 (synchronisation).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

from pydantic import Field, model_validator

from racetrap.golden_model.barracuda.race import RaceClass
from racetrap.golden_model.events import Geometry
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.executor.codegen.compiler import compile_kernel
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.executor.machine.weak_memory import WeakMemorySettings
from racetrap.sim.gpu.launch.kernel_files import load_kernels
from racetrap.sim.gpu.launch.launch_file import BlockShape, GridShape
from racetrap.sim.gpu.ptx.errors import PtxError
from racetrap.sim.toml_file import Table, TomlFile, one_of, read_toml

PACKAGE = "tests.support.gpu.constructs"
#: Room for every block of a kernel at once: two SMs, so that neighbouring blocks are on both.
_GEOMETRY = Geometry(sm_count=2, blocks_per_sm=4, warps_per_sm=16)
_DATA_BYTES = 4096
_SYNC_BYTES = 256

_Class = Annotated[str, one_of({each.value for each in RaceClass})]
_Races = Annotated[frozenset[_Class], Field(strict=False)]
_Words = Annotated[tuple[int, ...], Field(strict=False)]


class Pair(Table):
    """Two kernels that differ by one construct.

    Parameters
    ----------
    free, racy : str
        Names of the race-free kernel and of the racy one.
    reason : str
        Why the racy one is, in one line.
    source : str
        File of the kernels, without suffix.
    grid, block : (int, int, int)
        Shape of the launch.
    races : frozenset of str
        Classes of race of the racy kernel, over all schedules together.
    result : tuple of int
        How ``data`` begins after the race-free kernel, in every schedule.
    independent : bool
        Whether the lanes of a warp are scheduled independently.
    cooperative : bool
        Whether blocks may wait for each other.
    """

    free: str
    racy: str
    reason: str
    source: str
    grid: GridShape
    block: BlockShape
    races: _Races
    result: _Words = ()
    independent: bool = False
    cooperative: bool = False


class _Group(Table):
    title: str
    pairs: list[Pair]

    @model_validator(mode="before")
    @classmethod
    def _complete_pairs(cls, data: Any) -> Any:
        """What stands in the group holds for its pairs."""
        own = {key: value for key, value in data.items() if key not in cls.model_fields}
        return {"title": data["title"], "pairs": [own | pair for pair in data["pairs"]]}


class _Construct(Table):
    name: str
    kernels: list[str]


class _Suite(TomlFile):
    groups: list[_Group]
    constructs: list[_Construct]


_SUITE = read_toml(Path(__file__).with_suffix(".toml"), _Suite)
#: Source of the kernels that are refused.
_REFUSED = "refused_sm90"


#: Pairs by what they are about.
GROUPS: Mapping[str, tuple[Pair, ...]] = MappingProxyType({
    group.title: tuple(group.pairs) for group in _SUITE.groups
})  # fmt: skip

#: Constructs that kernels use, with the kernels that have each: all of pairs, or all refused.
CONSTRUCTS: Mapping[str, tuple[str, ...]] = MappingProxyType({
    construct.name: tuple(construct.kernels) for construct in _SUITE.constructs
})  # fmt: skip


class KernelRun(NamedTuple):
    """A run of a kernel.

    Parameters
    ----------
    trace : Trace
        Its trace.
    data : list of int
        ``data`` afterwards.
    printed : str
        What its threads have printed.
    """

    trace: Trace
    data: list[int]
    printed: str


def run_kernel(
    pair: Pair, kernel: str, scheduler: str, seed: int, memory: WeakMemorySettings | None = None,
    **limits: Any,
) -> KernelRun:  # fmt: skip
    """Run one of the kernels of a pair on a new device.

    Parameters
    ----------
    pair : Pair
        How to launch it.
    kernel : str
        Its name.
    scheduler, seed : str, int
        Warp scheduler of the executor, and its seed.
    memory : WeakMemorySettings, optional
        Memory that is not sequentially consistent.
    limits
        Limits of the device.
    """
    printed: list[str] = []
    device = Device(
        _GEOMETRY, scheduler=scheduler, seed=seed, independent_threads=pair.independent,
        write=printed.append, memory=memory, **limits,
    )  # fmt: skip
    data, sync = device.allocate(_DATA_BYTES), device.allocate(_SYNC_BYTES)
    module = load_kernels(PACKAGE, pair.source)
    device.run(device.prepare(
        module, kernel, pair.grid, pair.block, [data, sync], cooperative=pair.cooperative
    ))  # fmt: skip
    words = device.read(data, "i4", _DATA_BYTES // 4).tolist()
    trace = device.trace(f"{kernel}, {scheduler}, seed {seed}")
    return KernelRun(trace, words, "".join(printed))


def refusal(kernel: str) -> str | None:
    """Sentence by which a kernel of ``refused_sm90`` is refused; ``None`` if it is not."""
    try:
        compile_kernel(load_kernels(PACKAGE, _REFUSED), kernel)
    except PtxError as error:
        return str(error).partition(": ")[2]
    return None
