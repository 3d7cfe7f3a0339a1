"""Named configurations, and changes of them by ``name=value`` settings.

Ref: ScoRD (ISCA'20) Table V (GPU), Section IV-B and Table VII (metadata).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any

from racetrap.generators.random_configurations import random_configuration
from racetrap.golden_model.scord.params import ScordParams

__all__ = ["PRESETS", "Preset", "find_preset", "module_name", "with_settings"]


@dataclass(frozen=True)
class Preset:
    """A named configuration.

    Parameters
    ----------
    name : str
        Name in lower case, words joined by hyphens.
    summary : str
        What it is for, in one line.
    params : ScordParams
        Its parameters.
    """

    name: str
    summary: str
    params: ScordParams


_SMALL = ScordParams(sm_count=2, blocks_per_sm=2, warps_per_sm=4, ratio=4, outstanding=8)

#: Every preset by name.
PRESETS: Mapping[str, Preset] = MappingProxyType({
    preset.name: preset
    for preset in (
        # Fast to generate and simulate: the configuration of most tests.
        Preset("scord-tiny", "2 SMs x 2 blocks x 4 warps, for tests", _SMALL),
        # The paper's own: 15 SMs, 32 warps each, 4-byte units, 16 of them to a cached entry.
        Preset("scord", "The paper's detector: 12.5 % metadata by software caching", ScordParams()),
        # One entry for each word: no false negatives from shared entries, 200 % metadata.
        Preset("scord-nocache", "An entry for each 4-byte word", ScordParams(ratio=1)),
        # Columns of Table VII: coarser units instead of caching.
        Preset("scord-8byte", "An entry for 8 bytes", ScordParams(granularity=8, ratio=1)),
        Preset("scord-16byte", "An entry for 16 bytes", ScordParams(granularity=16, ratio=1)),
        # Four accesses a cycle.
        Preset("scord-banks4", "The paper's detector with four banks", ScordParams(banks=4)),
        # No metadata memory port: fits a small FPGA; the monitored region is small as well.
        Preset(
            "scord-local",
            "Metadata in 4 KiB of on-chip memory, for small FPGAs",
            replace(_SMALL, ratio=16, local_bytes=4096),
        ),
    )
})  # fmt: skip


def find_preset(name: str) -> Preset:
    """The preset called ``name``, or the random configuration of ``random-NUMBER``.

    Raises
    ------
    ValueError
        If there is no such preset.
    """
    if found := re.fullmatch(r"random-(\d{1,9})", name):
        number = int(found[1])
        return Preset(name, f"Random configuration {number}", random_configuration(number))
    if name not in PRESETS:
        choices = ", ".join(PRESETS)
        raise ValueError(f"Preset must be one of {choices}, or random-NUMBER, not {name}")
    return PRESETS[name]


def module_name(preset: str) -> str:
    """Verilog module of a preset."""
    return preset.replace("-", "_")


def with_settings(params: ScordParams, settings: Iterable[str]) -> ScordParams:
    """``params`` with some parameters changed.

    Parameters
    ----------
    params : ScordParams
        Parameters to start from.
    settings : iterable of str
        Changes as ``name=value``; numbers in any base that Python writes, ``true`` or
        ``false`` for switches.

    Raises
    ------
    ValueError
        If a setting is malformed, unknown or given twice, or if the parameters are out of
        range or in conflict.
    """
    kinds = {field.name: type(getattr(params, field.name)) for field in fields(params)}
    changes: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise ValueError(f"Setting must be name=value, not {setting}")
        if name not in kinds:
            raise ValueError(f"Setting name must be one of {', '.join(kinds)}, not {name}")
        if name in changes:
            raise ValueError(f"Setting {name} must be given once, not again as {text}")
        changes[name] = _switch(name, text) if kinds[name] is bool else _number(name, text)
    return replace(params, **changes)


def _number(name: str, text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise ValueError(f"Setting {name} must be a whole number, not {text!r}") from None


def _switch(name: str, text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(f"Setting {name} must be true or false, not {text!r}")
    return text == "true"
