"""Stimuli of commands: which detector each is for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from racetrap.generators.presets import find_preset, with_settings
from racetrap.generators.system import Params
from racetrap.generators.systems import SYSTEMS, system_of
from racetrap.golden_model.trace import AnyTrace


def check_reads(params: Params, kind: type[AnyTrace]) -> None:
    """Raise ``ValueError`` if parameters are of a detector that does not read such traces."""
    system = system_of(params)
    if not system.reads(kind):
        readers = " or ".join(each.name for each in SYSTEMS if each.reads(kind))
        raise ValueError(
            f"A preset of {system.name} does not read {kind.kind}: take one of {readers}"
        )


def chosen_params(preset: str, settings: Iterable[str], kind: type[AnyTrace]) -> Any:
    """Parameters of a preset that reads such traces, with some changed; errors as of
    ``find_preset``, ``check_reads`` and ``with_settings``."""
    found = find_preset(preset)
    check_reads(found.params, kind)
    return with_settings(found.params, settings)


def check_system(params: Params, system: str, stimulus: str) -> None:
    """Raise ``ValueError`` if parameters are not of the detector that a stimulus is for."""
    if (own := system_of(params).name) != system:
        raise ValueError(f"A preset of {own} is not for {stimulus}: take one of {system}")
