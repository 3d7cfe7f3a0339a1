"""Provenance of cost figures: device, tools, constraint, seeds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from racetrap.fpga.cost.table import Cost, CostTable


def provenance(tables: Sequence[CostTable]) -> dict[str, str]:
    """Provenance of the figures of each family."""
    families = dict.fromkeys(family for table in tables for family in table.families)
    return {family: "; ".join(_facts(list(_costs(tables, family)))) for family in families}


def _costs(tables: Sequence[CostTable], family: str) -> Iterator[Cost]:
    for table in tables:
        for row in table.rows:
            if family in row.costs:
                yield row.costs[family]


def _facts(costs: Sequence[Cost]) -> Iterator[str]:
    placements = [placement for cost in costs for placement in cost.placements]
    yield from _distinct(cost.device for cost in costs)
    yield from _distinct(
        f"{tool} {version}" for cost in costs for tool, version in cost.versions.items()
    )
    if placements:
        constraints = _distinct(f"{each.constraint_mhz:g}" for each in placements)
        yield f"constraint {', '.join(constraints)} MHz"
        seeds = sorted({each.seed for each in placements})
        yield f"{'seeds' if len(seeds) > 1 else 'seed'} {', '.join(map(str, seeds))}"
    else:
        yield "synthesis only"


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))
