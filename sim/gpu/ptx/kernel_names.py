"""Names of kernels as programmers write them, such as ``reduce`` or ``scan<128>``."""

from __future__ import annotations

import re
from functools import cache

from racetrap.sim.gnu_tools import run_tool

_OPEN, _CLOSE = "<", ">"


@cache
def written_name(name: str) -> str:
    """Name in the source, with template arguments but without parameters, of a name in the PTX."""
    if not name.startswith("_Z"):
        return name
    # The compiler divides some structures into their members, and numbers these.
    name = re.sub(r"_\$_\d+$", "", name)
    text = run_tool(["c++filt", name], "Names of kernels cannot be read").strip()
    depth = 0
    for place, character in enumerate(text):
        depth += (character == _OPEN) - (character == _CLOSE)
        if character == "(" and depth == 0 and place:
            # Only templates have their type of result in the name.
            return text[:place].removeprefix("void ")
    return text


@cache
def variable_name(name: str) -> str:
    """Name in the source of a variable, without its function, of a name in the PTX."""
    if not name.startswith("_Z"):
        return name
    # The compiler divides some structures into their members, and numbers these.
    name = re.sub(r"_\$_\d+$", "", name)
    text = run_tool(["c++filt", name], "Names of variables cannot be read").strip()
    text = text.rpartition(")::")[2]
    return re.sub(r"^_INTERNAL_\w+::", "", text)


def is_named(name: str, wanted: str) -> bool:
    """Whether ``wanted`` is a name in the PTX, or in the source with template arguments or not."""
    if name == wanted:
        return True
    written = written_name(name)
    return wanted in (written, written.partition(_OPEN)[0])
