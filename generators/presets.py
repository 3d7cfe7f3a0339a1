"""Presets of all detectors by name, and changes of them by ``name=value`` settings."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, replace
from enum import Enum
from types import MappingProxyType
from typing import Any, TypeVar

from racetrap.generators.system import Params, Preset
from racetrap.generators.systems import SYSTEMS, check_reads
from racetrap.golden_model.checks import unknown_name
from racetrap.golden_model.configuration import configuration_hash
from racetrap.golden_model.trace import AnyTrace

_Changed = TypeVar("_Changed", bound=Params)

#: Every preset by name, except those of the size of real chips.
PRESETS: Mapping[str, Preset[Params]] = MappingProxyType({
    name: preset for system in SYSTEMS for name, preset in system.presets.items()
})  # fmt: skip


def find_preset(name: str) -> Preset[Params]:
    """The preset called ``name``, or a random configuration.

    The name ``random-NUMBER`` gives one of ScoRD, ``sigrace-random-NUMBER`` one of SigRace, and so
    on: each detector has its ``random_prefix``.

    Raises
    ------
    ValueError
        If there is no such preset.
    """
    found = re.fullmatch(r"(.*)-(\d{1,9})", name)
    for system in SYSTEMS:
        if found and found[1] == system.random_prefix:
            number = int(found[2])
            return Preset(name, f"Random configuration {number}", system.random(number))
        if name in system.large_presets:
            return system.large_presets[name]
    if name not in PRESETS:
        large = (preset for system in SYSTEMS for preset in system.large_presets)
        drawn = (f"{system.random_prefix}-NUMBER" for system in SYSTEMS)
        raise ValueError(unknown_name("preset", name, [*PRESETS, *large, *drawn]))
    return PRESETS[name]


def configuration_name(preset: str, params: Params, forms: Collection[str] = ()) -> str:
    """Name of a configuration's files: the preset's if nothing is changed.

    Parameters
    ----------
    preset : str
        Preset that the parameters come from.
    params : Params
        Parameters.
    forms : collection of str
        Forms of the Verilog, which are not parameters.
    """
    parts = [preset]
    if params != find_preset(preset).params:
        parts.append(f"{configuration_hash(params):08x}")
    return "-".join([*parts, *sorted(forms)])


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


def package_name(name: str) -> str:
    """SystemVerilog package of a configuration by the name of its files, and name of its file."""
    return f"{module_name(name)}_pkg"


def settings_of(preset: str, params: Params) -> list[str]:
    """Settings that turn a preset into ``params``, in the form of ``with_settings``.

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
            raise ValueError(unknown_name("setting", name, kinds))
        if name in changes:
            raise ValueError(f"Setting {name} is given twice, again as {text}")
        if issubclass(kinds[name], (Enum, str)):
            changes[name] = text  # the parameters check the words
        elif kinds[name] is bool:
            changes[name] = _switch(name, text)
        else:
            changes[name] = _number(name, text)
    return replace(params, **changes) if changes else params


def with_all_settings(settings: Iterable[str], *parts: Any) -> tuple[Any, ...]:
    """``parts``, each with its own settings.

    Parameters
    ----------
    settings : iterable of str
        Changes as ``name=value``, as for ``with_settings``.
    parts : dataclasses
        Objects to change: parameters of a detector, and of its run.  A name that none of them has
        is reported by the first.

    Raises
    ------
    ValueError
        If a setting is malformed, unknown, given twice or out of range.
    """
    given: list[list[str]] = [[] for _ in parts]
    for setting in settings:
        name = setting.partition("=")[0]
        owners = [
            number for number, part in enumerate(parts)
            if name in {field.name for field in fields(part)}
        ]  # fmt: skip
        given[owners[0] if owners else 0].append(setting)
    return tuple(with_settings(part, own) for part, own in zip(parts, given, strict=True))


def chosen_params(
    preset: str, settings: Iterable[str], kind: type[AnyTrace], *parts: Any
) -> tuple[Any, ...]:
    """Parameters of a preset that reads such traces, and ``parts``, each with its settings; errors
    as of ``find_preset``, ``check_reads`` and ``with_all_settings``."""
    params = find_preset(preset).params
    check_reads(params, kind)
    return with_all_settings(settings, params, *parts)


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
