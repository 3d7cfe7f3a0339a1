"""Tables of the page on presets: purposes, sizes, parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from docs.site.markdown import table
from racetrap.generators.presets import Preset
from racetrap.generators.system import Params
from racetrap.generators.systems import SYSTEMS, system_of
from racetrap.golden_model.sigrace.params import (
    MAX_BITMAP_LSB_BITS,
    ORGANISATIONS,
    PARTITIONS,
)


def _purpose(preset: Preset[Params]) -> list[str]:
    system = system_of(preset.params)
    bits = sum(system.method_bits(preset.params).values())
    overhead = " ".join(each.sentence for each in system.overheads(preset.params))
    return [f"`{preset.name}`", preset.summary, f"{bits / 8:.0f} bytes", overhead]


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


def _group(presets: Mapping[str, Preset[Params]]) -> list[str]:
    """Tables of purposes and of parameters."""
    rows = [_purpose(preset) for preset in presets.values()]
    columns = ["preset", "purpose", "state of the method", "overhead"]
    return [table(columns, rows), _parameters(presets)]


def presets_tables() -> str:
    """The presets of each system, as Markdown."""
    lines = []
    for system in SYSTEMS:
        title = system.title.removeprefix("the ")
        lines += [f"## {title[0].upper()}{title[1:]}\n", *_group(system.presets)]
        if system.large_presets:
            lines += ["### Presets the size of real chips\n", *_group(system.large_presets)]
    return "\n".join(lines)


def signature_configurations() -> str:
    """The signature configurations of SigRace's Tables 5 and 6, as Markdown."""
    settings = [
        [
            f"B{b}_S{s}",
            f"`--set lsb_bits={lsb} --set filters={filters} --set filter_bits={bits}`"
            + (" `--set form=hashed`" if lsb > MAX_BITMAP_LSB_BITS else ""),
        ]
        for b, lsb in PARTITIONS.items()
        for s, (filters, bits) in ORGANISATIONS.items()
    ]
    return table(["configuration", "settings of `sigrace`"], settings)
