"""Small programs with a verdict each: correct and incorrect uses of each synchronisation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["SMALL_PROGRAMS", "SmallProgram"]

_FOLDER = Path(__file__).parent / "small"
#: An entry of the list of cases in a source.
_CASE = re.compile(r"^ +CASE\((\w+), (clean|racy)\),$", re.MULTILINE)


class SmallProgram(NamedTuple):
    """A case of a source; its name is the program's only argument.

    Parameters
    ----------
    name : str
        Name.
    source : Path
        Source.
    is_racy : bool
        Whether it has a race, however it is scheduled.
    """

    name: str
    source: Path
    is_racy: bool


def _listed() -> Mapping[str, SmallProgram]:
    cases = {}
    for source in sorted(_FOLDER.glob("*.c")):
        for name, verdict in _CASE.findall(source.read_text(encoding="utf-8")):
            cases[name] = SmallProgram(name, source, verdict == "racy")
    return MappingProxyType(cases)


#: By name, as the sources list them.
SMALL_PROGRAMS: Mapping[str, SmallProgram] = _listed()
