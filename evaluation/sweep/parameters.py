"""Names of parameters in a sweep: the detector's own, and words that people use for them."""

from __future__ import annotations

from dataclasses import fields

from racetrap.evaluation.sweep.quality import Swept
from racetrap.generators.system import Params
from racetrap.generators.systems import system_of


def swept_of(params: Params) -> Swept:
    """Interface between sweeps and the detector that parameters belong to."""
    swept: Swept = system_of(params).own("evaluation", "sweep").SWEPT
    return swept


def resolve(params: Params, key: str) -> tuple[str, ...]:
    """The parameters that a key of a grid names, joined by ``+`` if several go together.

    Raises
    ------
    ValueError
        With the rule, if there is no such parameter or one is named twice.
    """
    aliases = swept_of(params).aliases
    known = [field.name for field in fields(params)]
    names = []
    for word in key.split("+"):
        name = aliases.get(word.strip(), word.strip())
        if name not in known:
            also = ", ".join(f"{alias} ({meant})" for alias, meant in aliases.items())
            raise ValueError(f"one of {', '.join(known)} or {also}")
        if name in names:
            raise ValueError("a parameter that is named once")
        names.append(name)
    return tuple(names)
