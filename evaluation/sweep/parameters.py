"""Names of parameters in a sweep: the detector's own, and words that people use for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType

from racetrap.generators.system import Params
from racetrap.generators.systems import system_of

__all__ = ["ALIASES", "resolve"]

#: Other words for parameters, by detector.
ALIASES: Mapping[str, Mapping[str, str]] = MappingProxyType({
    "scord": MappingProxyType({
        "lanes": "sm_count",  # streams of transactions, each with a tracker of its own
        "lock_depth": "lock_table_depth",
        "fence_id_width": "fence_id_bits",
        "barrier_id_width": "barrier_id_bits",
    }),
    "sigrace": MappingProxyType({
        "k": "filters",
        "n": "filter_bits",
        "queue_depth": "history_depth",
    }),
    "noncoherent": MappingProxyType({"queue_depth": "report_fifo_depth"}),
})  # fmt: skip


def resolve(params: Params, key: str) -> tuple[str, ...]:
    """The parameters that a key of a grid names, joined by ``+`` if several go together.

    Raises
    ------
    ValueError
        With the rule, if there is no such parameter or one is named twice.
    """
    aliases = ALIASES[system_of(params).name]
    known = [field.name for field in fields(params)]
    names = []
    for word in key.split("+"):
        name = aliases.get(word.strip(), word.strip())
        if name not in known:
            also = ", ".join(f"{alias} ({meant})" for alias, meant in aliases.items())
            raise ValueError(f"one of {', '.join(known)} or {also}")
        if name in names:
            raise ValueError("a parameter that is named once")
        names.append(name)
    return tuple(names)
