"""Small programs with a verdict each: correct and incorrect uses of each synchronisation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

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
        Whether it has a race in every schedule.
    """

    name: str
    source: Path
    is_racy: bool


def programs_in(folder: Path) -> Mapping[str, SmallProgram]:
    """The cases of all sources in a folder by name, as the sources list them."""
    return MappingProxyType(
        {
            name: SmallProgram(name, source, verdict == "racy")
            for source in sorted(folder.glob("*.c*"))
            for name, verdict in _CASE.findall(source.read_text(encoding="utf-8"))
        }
    )


#: Programs that need no library but pthreads, and their folder.
SMALL_FOLDER = Path(__file__).parent / "small"
SMALL_PROGRAMS = programs_in(SMALL_FOLDER)
