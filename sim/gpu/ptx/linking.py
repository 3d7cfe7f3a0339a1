"""Linking of PTX modules that were compiled separately (``nvcc -rdc=true``).

Ref: PTX ISA 9.0, Section 5.4 "Linking Directives".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from racetrap.sim.gpu.ptx.errors import PtxError
from racetrap.sim.gpu.ptx.module import Function, Module, Variable

#: Names of a file's own variables and functions: declared without a linking directive.
_OWN = re.compile(
    r"(?m)^[ \t]*\.(?:(?:global|const|shared)\b[^;={]*?([\w$]+)(?=\[|\s*[=;])"
    r"|func\s*(?:\([^)]*\)\s*)?([\w$]+))"
)


def with_distinct_names(texts: Sequence[str]) -> list[str]:
    """The texts of modules that are linked, each with names of its own where another has them."""
    own = [{first or second for first, second in _OWN.findall(text)} for text in texts]
    counts = Counter(name for names in own for name in names)
    return [
        _renamed(text, [name for name in names if counts[name] > 1], number)
        for number, (text, names) in enumerate(zip(texts, own, strict=True))
    ]


def _renamed(text: str, names: Sequence[str], number: int) -> str:
    if not names or not number:
        return text
    either = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.sub(rf"(?<![\w$%.])({either})(?![\w$])", rf"\1$unit{number}", text)


def link(modules: Sequence[Module]) -> Module:
    """One module of several: each name is that of its definition, of a weak one the first.

    Raises
    ------
    PtxError
        If a variable or function is used and not defined.
    """
    first = modules[0]
    if len(modules) == 1:
        return first
    variables: dict[str, Variable] = {}
    functions: dict[str, Function] = {}
    for module in modules:
        for name, variable in module.variables.items():
            if name not in variables or (variables[name].extern and not variable.extern):
                variables[name] = variable
        for name, function in module.functions.items():
            if name not in functions or (function.defined and not functions[name].defined):
                functions[name] = function
    for name, variable in variables.items():
        if variable.extern and variable.space != "shared":
            raise PtxError(first.name, 1, f"Variable {name} is declared in one file of the "
                           "program, but no file defines it")  # fmt: skip
    return Module(
        first.name, first.version, first.target, variables, functions, parts=tuple(modules)
    )
