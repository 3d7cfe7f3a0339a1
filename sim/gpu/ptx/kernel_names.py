"""Names of kernels as programmers write them, such as ``reduce`` or ``scan<128>``."""

from __future__ import annotations

import re
from functools import cache

from racetrap.sim.gnu_tools import run_tool

_OPEN, _CLOSE = "<", ">"
#: Numbers of members behind the name of a variable.
_MEMBERS = re.compile(r"(?:_\$_\d+)+$")


@cache
def written_name(name: str) -> str:
    """Name in the source, with template arguments but without parameters, of a name in the PTX."""
    return _without_parameters(_demangled(name)) if name.startswith("_Z") else name


@cache
def variable_name(name: str) -> tuple[str, str]:
    """Name in the source of a variable, of a name in the PTX, behind that of its function, which is
    empty if it is outside all."""
    if not name.startswith("_Z"):
        return "", name
    text = re.sub(r"^_INTERNAL_\w+::", "", _demangled(name))
    if not name.startswith("_ZZ"):
        return "", text
    function, _, own = text.rpartition("::")
    return _without_parameters(function), own


def member_numbers(name: str) -> list[int]:
    """Which member of a variable a variable of the PTX is, and of that again: the compiler divides
    some structures and arrays."""
    found = _MEMBERS.search(name)
    return [int(number) for number in re.findall(r"\d+", found[0])] if found else []


def _demangled(name: str) -> str:
    command = ["c++filt", _MEMBERS.sub("", name)]
    return run_tool(command, "Names of kernels cannot be read").strip()


def _without_parameters(text: str) -> str:
    depth = 0
    for place, character in enumerate(text):
        depth += (character == _OPEN) - (character == _CLOSE)
        if character == "(" and depth == 0 and place:
            # Only templates have their type of result in the name.
            return text[:place].removeprefix("void ")
    return text


def template_arguments(written: str) -> list[str]:
    """Arguments of a template in the name of a function in the source."""
    found, depth = [""], 0
    for character in written.partition(_OPEN)[2].rpartition(_CLOSE)[0]:
        depth += (character in "<(") - (character in ">)")
        if character == "," and not depth:
            found.append("")
        else:
            found[-1] += character
    return [each.strip() for each in found if each.strip()]


def is_named(name: str, wanted: str) -> bool:
    """Whether ``wanted`` is a name in the PTX, or in the source with template arguments or not."""
    if name == wanted:
        return True
    written = written_name(name)
    return wanted in (written, written.partition(_OPEN)[0])
