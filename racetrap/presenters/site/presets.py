"""Tables of the page on presets: purposes, sizes, parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from racetrap.generators.noncoherent import NONCOHERENT
from racetrap.generators.presets import Preset
from racetrap.generators.scord import SCORD
from racetrap.generators.sigrace import SIGRACE
from racetrap.generators.system import Params
from racetrap.generators.systems import system_of
from racetrap.golden_model.scord.state import metadata_overhead
from racetrap.golden_model.sigrace.params import (
    MAX_BITMAP_LSB_BITS,
    ORGANISATIONS,
    PARTITIONS,
)
from racetrap.presenters.site.markdown import table

__all__ = ["presets_tables"]


_PURPOSE = ("preset", "purpose", "state of the method")


def _purpose(preset: Preset[Params]) -> list[str]:
    bits = sum(system_of(preset.params).method_bits(preset.params).values())
    return [f"`{preset.name}`", preset.summary, f"{bits / 8:.0f} bytes"]


def _value(value: object) -> str:
    """A parameter as ``--set`` takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _parameters(presets: Mapping[str, Preset[Params]]) -> str:
    values = [preset.params for preset in presets.values()]
    rows = [
        [f"`{field.name}`", *(_value(getattr(params, field.name)) for params in values)]
        for field in fields(values[0])
    ]
    return table(["parameter", *(f"`{name}`" for name in presets)], rows)


def presets_tables() -> str:
    """The presets of each system, as Markdown."""
    scord, gpus = (
        [
            [*_purpose(preset), f"{metadata_overhead(preset.params):.1%}"]
            for preset in presets.values()
        ]
        for presets in (SCORD.presets, SCORD.large_presets)
    )
    settings = [
        [
            f"B{b}_S{s}",
            f"`--set lsb_bits={lsb} --set filters={filters} --set filter_bits={bits}`"
            + (" `--set form=hashed`" if lsb > MAX_BITMAP_LSB_BITS else ""),
        ]
        for b, lsb in PARTITIONS.items()
        for s, (filters, bits) in ORGANISATIONS.items()
    ]
    return "\n".join([
        "## ScoRD\n",
        table([*_PURPOSE, "metadata for the data"], scord),
        _parameters(SCORD.presets),
        "### Of the size of real GPUs\n",
        table([*_PURPOSE, "metadata for the data"], gpus),
        _parameters(SCORD.large_presets),
        "## SigRace\n",
        table(_PURPOSE, map(_purpose, SIGRACE.presets.values())),
        _parameters(SIGRACE.presets),
        "The signature configurations of the paper's Tables 5 and 6 (`sigrace` is B2_S2):\n",
        table(["configuration", "settings of `sigrace`"], settings),
        "## Bus monitor for non-coherent accelerators\n",
        table(_PURPOSE, map(_purpose, NONCOHERENT.presets.values())),
        _parameters(NONCOHERENT.presets),
    ])  # fmt: skip
