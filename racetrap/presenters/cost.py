"""Hardware cost of presets: text, JSON, page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from rich.console import Console

from racetrap.evaluation.table import Cell, Table
from racetrap.fpga.cost.limits import limits
from racetrap.fpga.cost.provenance import provenance
from racetrap.fpga.cost.table import BlockRow, Cost, CostTable
from racetrap.presenters.page import Section, html_page
from racetrap.presenters.tables import cell_text, show_table

#: Figures of synthesis: name of the column, attribute of the result.
_SYNTHESIS = {
    "LUT": "lut", "FF": "ff", "block RAM": "block_ram", "DSP": "dsp", "depth": "depth",
    "GE": "gate_equivalents", "area [um2]": "area_um2",
}  # fmt: skip
#: An area estimate counts library cells: no LUT, block RAM or DSP.
_NOT_ON_ASIC = ("LUT", "block RAM", "DSP")


def tables_of(cost: CostTable) -> list[Table]:
    """Blocks, state and the paper's figures of one preset."""
    title = " ".join([cost.preset, *cost.settings])
    rows = [_block_row(row, cost.families) for row in cost.rows]
    # Columns that no block has are omitted.
    columns = [name for name in rows[0] if any(row[name] is not None for row in rows)]
    return [
        Table(
            cost.preset, f"{title}: one instance of each block", "", tuple(columns),
            tuple(tuple(row[name] for name in columns) for row in rows),
        ),
        Table(
            f"{cost.preset}-state", f"{title}: state in bits", "",
            ("kind", "method, from parameters", "flip-flops elaborated", "memory bits elaborated"),
            tuple(
                (part.kind.replace("_", " "), part.method, part.flip_flops, part.memory_bits)
                for part in cost.state
            ),
        ),
        Table(
            f"{cost.preset}-paper", f"{title}: compared with the paper", "",
            ("figure", "paper", "counted", "unit", "why", "Ref"),
            tuple(
                (each.name, each.paper, each.counted, each.unit, each.explanation, each.reference)
                for each in cost.comparisons
            ),
        ),
    ]  # fmt: skip


def _block_row(row: BlockRow, families: Sequence[str]) -> dict[str, Cell]:
    """Figures of a block by column."""
    cells: dict[str, Cell] = {
        "block": row.block,
        "instances": row.count,
        "flip-flops elaborated": row.state.flip_flops,
        "memory bits": row.state.memory_bits,
    }
    for family in families:
        cells |= {f"{family} {name}": cell for name, cell in _figures(row.costs.get(family))}
    return cells


def _figures(cost: Cost | None) -> Iterator[tuple[str, Cell]]:
    """Figures of a block on one family, by column; None where there is none."""
    made = cost.synthesis if cost else None
    for name, attribute in _SYNTHESIS.items():
        is_left_out = made is not None and made.area_um2 is not None and name in _NOT_ON_ASIC
        yield name, None if made is None or is_left_out else getattr(made, attribute)
    fmax = cost.fmax if cost else None
    spread = f" ({fmax.low:.1f}-{fmax.high:.1f})" if fmax and fmax.low < fmax.high else ""
    yield "Fmax [MHz]", f"{fmax.median:.1f}{spread}" if fmax else None


def cost_words(cost: Cost) -> str:
    """Figures of a block on one family in a line."""
    found = [f"{name} {cell_text(cell)}" for name, cell in _figures(cost) if cell is not None]
    return f"{cost.device}: {', '.join(found)}"


def print_cost(console: Console, costs: Sequence[CostTable]) -> None:
    """Print the tables of all presets, and the limits of their figures."""
    for cost in costs:
        blocks, state, paper = tables_of(cost)
        show_table(console, blocks)
        for problem in cost.problems:
            console.print(f"Not measured: {problem}", markup=False)
        show_table(console, state)
        show_table(console, paper)
        for sentence in cost.explanation:
            console.print(sentence, markup=False)
    made_by = provenance(costs)
    for family, facts in made_by.items():
        console.print(f"{family}: {facts}.", markup=False)
    console.print("These figures may not be used for everything:")
    for sentence in limits(made_by):
        console.print(f"- {sentence}", markup=False)


def to_json(costs: Sequence[CostTable], command: str) -> dict[str, Any]:
    """Everything as plain data; ``command`` reproduces it."""
    made_by = provenance(costs)
    return {
        "command": command,
        "racetrap": version("racetrap"),
        "provenance": made_by,
        "not_for": limits(made_by),
        "tables": list(map(_preset_json, costs)),
    }


def _preset_json(cost: CostTable) -> dict[str, Any]:
    return {
        "preset": cost.preset,
        "settings": list(cost.settings),
        "state_bits": [asdict(part) for part in cost.state],
        "paper": [asdict(comparison) for comparison in cost.comparisons],
        "explanation": list(cost.explanation),
        "blocks": [
            {
                "block": row.block,
                "instances": row.count,
                "state_bits": asdict(row.state),
                "costs": {family: _cost_json(each) for family, each in row.costs.items()},
            }
            for row in cost.rows
        ],
        "problems": cost.problems,
    }


def _cost_json(cost: Cost) -> dict[str, Any]:
    return asdict(cost) | {"fmax_mhz": asdict(cost.fmax) if cost.fmax else None}


def page_of(costs: Sequence[CostTable], command: str, remark: Mapping[str, str]) -> str:
    """The page; ``command`` reproduces it, ``remark`` lists missing rows."""
    made_by = provenance(costs)
    sections = []
    for cost in costs:
        blocks, state, paper = tables_of(cost)
        sections += [
            Section(blocks, details=cost.paths),
            Section(state, sentences=cost.explanation),
            Section(paper),
        ]
    return html_page(
        "Hardware cost",
        "Figures are for one instance of a block; folded lists are its critical paths, of the "
        "seed nearest to the median.",
        sections,
        command=command,
        facts={**made_by, **remark},
        limits=limits(made_by),
        problems=[problem for cost in costs for problem in cost.problems],
    )
