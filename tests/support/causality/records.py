"""What the golden collector holds, as the hardware has it: values of the layouts' fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from racetrap.golden_model.causality.knowledge import Knowledge, Known
from racetrap.golden_model.causality.params import CausalityParams


def table_values(params: CausalityParams, table: Knowledge, places: int) -> dict[str, Any]:
    """A table, with room for so many exact entries."""
    empty = dict.fromkeys(params.known_layout.fields, 0)
    exact = [known.values(params) for known in table.exact] + [empty] * places
    return {
        **{f"known_{place}": values for place, values in enumerate(exact[:places])},
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
            block = params.block_id(known["warp"] >> params.warp_bits, known["slot"])
            key = ~block if known["is_block"] else known["warp"]
            table.exact.append(Known(key, block, known["clock"], bool(known["direct"])))
    return table
