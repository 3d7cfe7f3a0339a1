"""Measurement of the blocks of a preset: one block in a worker, all of them as a table."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from racetrap.fpga.cost.explain import compare, explain_state
from racetrap.fpga.cost.table import BlockRow, Cost, CostTable
from racetrap.fpga.flow.families import FAMILIES, Family, family
from racetrap.fpga.flow.place_and_route import place_and_route
from racetrap.fpga.flow.synthesis import TOOLCHAIN, MemoryLost, synthesise
from racetrap.fpga.flow.tools import ToolError, tool_versions
from racetrap.generators.structure import StateBits, state_bits, total_state
from racetrap.generators.system import Params
from racetrap.generators.systems import blocks_of
from racetrap.golden_model.checks import unknown_name
from racetrap.rtl.common.hardware_block import HardwareBlock
from racetrap.sim.content_cache import keep_json
from racetrap.sim.cosim.verilator.build_cache import build_key
from racetrap.sim.cosim.verilator.state_cache import kept_state_parts
from racetrap.sim.failure import DoesNotFit


@dataclass(frozen=True)
class Target:
    """Target of synthesis.

    Parameters
    ----------
    family : str
        Name of the family.
    device : str or None
        Name of its device; its default if ``None``.
    """

    family: str
    device: str | None = None

    @property
    def name(self) -> str:
        return f"{self.family} {self.device}" if self.device else self.family

    @property
    def found(self) -> Family:
        return family(self.family, self.device)


@dataclass(frozen=True)
class BlockMeasurement:
    """One block on one target; plain data, for a worker process.

    Parameters
    ----------
    preset : str
        Name of the preset.
    params : Params
        Its parameters.
    block : str
        Name of the block.
    target : Target
        Family and device.
    seeds : tuple of int
        Seeds of place and route; none for synthesis only.
    constraint_mhz : float
        Clock that place and route aims at.
    """

    preset: str
    params: Params
    block: str
    target: Target
    seeds: tuple[int, ...]
    constraint_mhz: float


def targets(names: Sequence[str]) -> list[Target]:
    """Targets by their names: a family, with its default device, or ``FAMILY:DEVICE``.

    Raises
    ------
    ValueError
        If there is no such family, or it has no such device.
    """
    found = []
    for name in dict.fromkeys(names):
        family, _, device = name.partition(":")
        if family not in FAMILIES:
            raise ValueError(unknown_name("family", family, FAMILIES))
        choices = FAMILIES[family].devices
        if device and device not in choices:
            raise ValueError(unknown_name(f"device of {family}", device, choices))
        found.append(Target(family, device) if device else Target(family))
    return found


def select_blocks(params: Params, names: Sequence[str]) -> list[HardwareBlock]:
    """Blocks of a configuration, or those of them that are named.

    Raises
    ------
    ValueError
        If there is no block of a name.
    """
    blocks = blocks_of(params)
    known = [block.name for block in blocks]
    for name in names:
        if name not in known:
            raise ValueError(unknown_name("block", name, known))
    return [block for block in blocks if not names or block.name in names]


def measured(
    cost: Cost, block: HardwareBlock, target: Family, seeds: Sequence[int], constraint_mhz: float,
    macro_words: int,
) -> Iterator[Cost]:  # fmt: skip
    """Measure a block: ``cost`` with its synthesis, and then, if there are seeds, its placements.

    Parameters
    ----------
    cost : Cost
        Results so far.
    block : HardwareBlock
        The block.
    target : Family
        Family, with its device.
    seeds : sequence of int
        Seeds of place and route; families without it are only synthesised.
    constraint_mhz : float
        Clock that place and route aims at.
    macro_words : int
        Words from which its arrays are SRAM macros.

    Raises
    ------
    DoesNotFit, MemoryLost
        If the block does not suit the family or device.
    ToolError
        If a tool fails.
    """
    with TemporaryDirectory() as folder:
        found = synthesise(block.component(), target, Path(folder), macro_words=macro_words)
    cost = replace(cost, synthesis=found)
    yield cost
    if seeds and target.place_tool is not None:
        with TemporaryDirectory() as folder:
            placements = place_and_route(
                block.component(), target, seeds, Path(folder), constraint_mhz=constraint_mhz,
                macro_words=macro_words,
            )  # fmt: skip
        yield replace(cost, placements=tuple(placements))


def measurement_key(_: object, job: BlockMeasurement) -> str:
    """Hash of all inputs of a measurement; empty if a tool is missing."""
    try:
        versions = tool_versions(*TOOLCHAIN, *job.target.found.packages)
    except ToolError:
        return ""
    return build_key(asdict(job), versions, files=_sources())


def measure(job: BlockMeasurement) -> Cost:
    """Synthesise a block, and place it once for each seed.

    An error of a tool becomes the result's ``problem``.
    """
    block = next(each for each in blocks_of(job.params) if each.name == job.block)
    target = job.target.found
    cost = Cost(target.device.name)
    try:
        cost = replace(cost, versions=tool_versions(*TOOLCHAIN, *target.packages))
        for better in measured(
            cost, block, target, job.seeds, job.constraint_mhz, job.params.macro_words
        ):
            cost = better  # and is kept if the next tool fails
    except (DoesNotFit, MemoryLost, ToolError) as error:
        return replace(cost, problem=_sentence(error))
    return cost


@functools.cache
def _sources() -> tuple[Path, ...]:
    """All inputs of a figure besides the block and the tools."""
    here = Path(__file__).parent
    folders = (here, here.parent / "flow")
    return tuple(path for each in folders for path in sorted(each.iterdir()) if path.is_file())


def _sentence(error: Exception) -> str:
    """An error in one line: its first line, and the error from a tool's output."""
    first, *said = str(error).splitlines()
    errors = [line.removeprefix("ERROR:").strip() for line in said if line.startswith("ERROR:")]
    return ": ".join([first.rstrip(":"), *errors[:1]])


def _kept_bits(params: Params, block: HardwareBlock) -> StateBits:
    """State of a block, elaborated once."""
    key = build_key("block", asdict(params), block.name, files=_sources())
    bits = keep_json("state", key, lambda: asdict(total_state(state_bits(block.component()))))
    return StateBits(**bits)


def make_table(
    preset: str, settings: Sequence[str], params: Params, blocks: Sequence[HardwareBlock],
    costs: Mapping[str, Mapping[str, Cost]],
) -> CostTable:  # fmt: skip
    """The table of a preset.

    Parameters
    ----------
    preset, settings, params
        Its name, changes, and parameters.
    blocks : sequence of HardwareBlock
        Blocks, a row each if they were measured.
    costs : mapping of str to (mapping of str to Cost)
        Measurements of each block, by target.
    """
    # As for the blocks: a chip has no trace port.
    parts = tuple(kept_state_parts(replace(params, trace_port=False)))
    rows = tuple(
        BlockRow(block.name, block.count, _kept_bits(params, block), costs[block.name])
        for block in blocks
        if block.name in costs
    )
    comparisons, explanation = tuple(compare(params)), tuple(explain_state(parts))
    return CostTable(preset, tuple(settings), parts, comparisons, explanation, rows)
