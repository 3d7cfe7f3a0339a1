"""Named configurations, and changes of them by ``name=value`` settings.

Ref: ScoRD (ISCA'20) Table V (GPU), Section IV-B and Table VII (metadata); SigRace (ISCA'09)
Tables 4-6.  NVIDIA white papers on the V100 (2017) and A100 (2020), CUDA C++ Programming Guide
(compute capabilities 7.0 and 8.0), and for the V100's slices the model of it that comes with
Accel-Sim (``SM7_QV100``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from enum import Enum
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from racetrap.generators.random_configurations import (
    random_noncoherent,
    random_scord,
    random_sigrace,
)
from racetrap.generators.system import Params
from racetrap.golden_model.link.configuration import configuration_hash
from racetrap.golden_model.noncoherent.params import Mode, NoncoherentParams
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.sigrace.params import SigraceParams

__all__ = [
    "GPU_PRESETS",
    "NONCOHERENT_PRESETS",
    "PRESETS",
    "SCORD_PRESETS",
    "SIGRACE_PRESETS",
    "Preset",
    "configuration_name",
    "find_preset",
    "module_name",
    "settings_of",
    "with_settings",
]

_Params = TypeVar("_Params", bound=Params, covariant=True)
_Changed = TypeVar("_Changed", bound=Params)


@dataclass(frozen=True)
class Preset(Generic[_Params]):
    """A named configuration.

    Parameters
    ----------
    name : str
        Name in lower case, words joined by hyphens.
    summary : str
        What it is for, in one line.
    params : Params
        Its parameters.
    """

    name: str
    summary: str
    params: _Params


_SMALL = ScordParams(sm_count=2, blocks_per_sm=2, warps_per_sm=4, ratio=4, outstanding=8)

#: Presets of ScoRD by name.
SCORD_PRESETS: Mapping[str, Preset[ScordParams]] = MappingProxyType({
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
        # Eight accesses a cycle through one metadata port of 512 bits; an SM offers as many.
        Preset(
            "scord-wide",
            "The paper's detector, eight words a cycle through one metadata port",
            ScordParams(banks=8, words_per_cycle=8, fence_lanes=4, outstanding=64),
        ),
        # No metadata memory port: fits a small FPGA; the monitored region is small as well.
        Preset(
            "scord-local",
            "Metadata in 4 KiB of on-chip memory, for small FPGAs",
            replace(_SMALL, ratio=16, local_bytes=4096),
        ),
    )
})  # fmt: skip


def _of_gpu(sm_count: int, slices: int) -> ScordParams:
    """A port of eight words at each L2 slice; SMs of compute capability 7.0 and 8.0.

    Nothing can watch the steps of hundreds of banks, so that there is no trace port.
    """
    return ScordParams(
        sm_count=sm_count, blocks_per_sm=32, warps_per_sm=64, banks=8 * slices, words_per_cycle=8,
        fence_lanes=4, outstanding=256, packet_fifo_depth=16, trace_port=False,
    )  # fmt: skip


#: Presets of ScoRD of the size of real GPUs, by name: much to generate, more to simulate.
GPU_PRESETS: Mapping[str, Preset[ScordParams]] = MappingProxyType({
    preset.name: preset
    for preset in (
        # 32 memory channels of two slices of 96 KiB each.
        Preset("scord-v100", "NVIDIA V100: 80 SMs, 64 L2 slices", _of_gpu(80, 64)),
        # Two partitions of 40 slices of 512 KiB each.
        Preset("scord-a100", "NVIDIA A100: 108 SMs, 80 L2 slices", _of_gpu(108, 80)),
    )
})  # fmt: skip

#: Presets of SigRace by name.
SIGRACE_PRESETS: Mapping[str, Preset[SigraceParams]] = MappingProxyType({
    preset.name: preset
    for preset in (
        # Everything overflows, wraps and saturates soon: the configuration of most tests.
        Preset(
            "sigrace-tiny",
            "2 cores, 3 threads, short blocks and queues, for tests",
            SigraceParams(
                cores=2, threads=3, filters=4, filter_bits=32, usb_limit=4, block_instructions=50,
                history_depth=4, timestamp_bits=6, log_depth=2, log_blocks=2, trap_depth=2,
                link_depth=4,
            ),
        ),
        # The paper's own: B2_S2 of Tables 5 and 6, 8 processors, 16 entries, 20-bit counters.
        Preset("sigrace", "The paper's detector: 8 cores, 2 Kbit signatures", SigraceParams()),
    )
})  # fmt: skip

#: Presets of the bus monitor by name.
NONCOHERENT_PRESETS: Mapping[str, Preset[NoncoherentParams]] = MappingProxyType({
    preset.name: preset
    for preset in (
        # Sets run out of entries soon: the configuration of most tests.
        Preset(
            "noncoherent-tiny",
            "2 engines, 4 entries a set, lines of two granules of 4 bytes, for tests",
            NoncoherentParams(
                line_bytes=8, granule_bytes=4, engines=2, entries=4, address_bits=16, tag_bits=16,
                report_fifo_depth=4,
            ),
        ),
        # A Cortex-M-class core with one DMA engine.
        Preset("noncoherent", "One engine, byte-exact rules", NoncoherentParams()),
        Preset(
            "noncoherent-thesis", "One engine, the three sets of the thesis",
            NoncoherentParams(mode=Mode.THESIS),
        ),
        # 1 MiB in 8 KiB of block RAM, for programs with many small buffers.
        Preset(
            "noncoherent-bitmap", "The three sets of the thesis, dirty granules in a bitmap",
            NoncoherentParams(mode=Mode.THESIS, window_bytes=1 << 20),
        ),
        # A cache that may fill lines ahead has no set of valid lines.
        Preset(
            "noncoherent-prefetch", "One engine, a cache that may fill any line",
            NoncoherentParams(prefetch=True),
        ),
        Preset("noncoherent-engines4", "Four engines", NoncoherentParams(engines=4)),
        Preset(
            "noncoherent-wide", "16 entries a set, addresses of 48 bits",
            NoncoherentParams(entries=16, address_bits=48),
        ),
        Preset(
            "noncoherent-axi", "One engine, seen on an AXI4 bus: observed overlaps only",
            NoncoherentParams(observes_bus=True),
        ),
    )
})  # fmt: skip

#: Every preset by name, but those of real GPUs.
PRESETS: Mapping[str, Preset[Params]] = MappingProxyType({
    **SCORD_PRESETS, **SIGRACE_PRESETS, **NONCOHERENT_PRESETS,
})  # fmt: skip

#: Random configurations by the prefix of their names.
_RANDOM: Mapping[str, Callable[[int], Params]] = MappingProxyType({
    "random": random_scord, "sigrace-random": random_sigrace,
    "noncoherent-random": random_noncoherent,
})  # fmt: skip


def find_preset(name: str) -> Preset[Params]:
    """The preset called ``name``, or a random configuration.

    The name ``random-NUMBER`` gives one of ScoRD, ``sigrace-random-NUMBER`` one of SigRace and
    ``noncoherent-random-NUMBER`` one of the bus monitor.

    Raises
    ------
    ValueError
        If there is no such preset.
    """
    found = re.fullmatch(r"(.*)-(\d{1,9})", name)
    if found and found[1] in _RANDOM:
        number = int(found[2])
        return Preset(name, f"Random configuration {number}", _RANDOM[found[1]](number))
    presets = {**PRESETS, **GPU_PRESETS}
    if name not in presets:
        choices = ", ".join([*presets, *(f"{prefix}-NUMBER" for prefix in _RANDOM)])
        raise ValueError(f"Preset must be one of {choices}, not {name}")
    return presets[name]


def configuration_name(preset: str, params: Params, *, asynchronous_reset: bool = False) -> str:
    """Name of a configuration's files: the preset's only if nothing of it is changed.

    Parameters
    ----------
    preset : str
        Preset that the parameters come from.
    params : Params
        Parameters.
    asynchronous_reset : bool
        Whether registers are reset at once, which no parameter says.
    """
    parts = [preset]
    if params != find_preset(preset).params:
        parts.append(f"{configuration_hash(params):08x}")
    if asynchronous_reset:
        parts.append("asynchronous-reset")
    return "-".join(parts)


def module_name(name: str, part: str = "") -> str:
    """Verilog module of a configuration, or of a part of it, by the name of its files.

    Raises
    ------
    ValueError
        If no module can have the name.
    """
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name) is None:
        raise ValueError(
            f"Name must be letters, digits, hyphens and underscores after a letter, not {name!r}"
        )
    return (f"{name}-{part}" if part else name).replace("-", "_")


def settings_of(preset: str, params: Params) -> list[str]:
    """Changes that make ``params`` of a preset, as ``with_settings`` takes them.

    Raises
    ------
    ValueError
        If there is no such preset, or it is one of another detector.
    """
    own = find_preset(preset).params
    if type(own) is not type(params):
        raise ValueError(
            f"Parameters of preset {preset} must be {type(own).__name__}, "
            f"not {type(params).__name__}"
        )
    values = {field.name: getattr(params, field.name) for field in fields(params)}
    return [
        f"{name}={_setting(value)}" for name, value in values.items() if value != getattr(own, name)
    ]


def with_settings(params: _Changed, settings: Iterable[str]) -> _Changed:
    """``params`` with some parameters changed.

    Parameters
    ----------
    params : Params
        Parameters to start from.
    settings : iterable of str
        Changes as ``name=value``; numbers in any base that Python writes, ``true`` or
        ``false`` for switches, the word itself for a choice of words.

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
        if issubclass(kinds[name], Enum):
            changes[name] = text  # the parameters know the words
        elif kinds[name] is bool:
            changes[name] = _switch(name, text)
        else:
            changes[name] = _number(name, text)
    return replace(params, **changes)


def _setting(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _number(name: str, text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise ValueError(f"Setting {name} must be a whole number, not {text!r}") from None


def _switch(name: str, text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(f"Setting {name} must be true or false, not {text!r}")
    return text == "true"
