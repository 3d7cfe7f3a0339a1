"""What the golden collector holds, as the hardware has it: values of the layouts' fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from racetrap.golden_model.causality.knowledge import Knowledge, Known
from racetrap.golden_model.causality.params import CausalityParams


def known_values(known: Known) -> dict[str, int]:
    """An exact entry of a table."""
    is_block = known.key < 0
    return {
        "is_block": is_block, "warp": 0 if is_block else known.key, "block": known.block,
        "clock": known.clock, "direct": known.direct,
    }  # fmt: skip


def table_values(params: CausalityParams, table: Knowledge, places: int) -> dict[str, Any]:
    """A table, with room for so many exact entries."""
    empty = dict.fromkeys(params.known_layout.fields, 0)
    exact = [*map(known_values, table.exact), *[empty] * places][:places]
    return {
        **{f"known_{place}": values for place, values in enumerate(exact)},
        "bits": table.bits, "lossy": table.lossy, "fenced": table.fenced,
    }  # fmt: skip


def table_of(params: CausalityParams, values: Mapping[str, Any], places: int) -> Knowledge:
    """The golden table with such values, which counts for itself."""
    table = Knowledge(params, places, Counter())
    table.bits, table.lossy = values["bits"], values["lossy"]
    table.fenced = values["fenced"]
    for place in range(places):
        known = values[f"known_{place}"]
        if known["clock"]:
            key = ~known["block"] if known["is_block"] else known["warp"]
            table.exact.append(Known(key, known["block"], known["clock"], bool(known["direct"])))
    return table
