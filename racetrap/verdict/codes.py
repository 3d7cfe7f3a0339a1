"""Codes of findings: the same for ever, in every form of report; `racetrap explain` shows them."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from racetrap.golden_model.checks import unknown_name


class Code(NamedTuple):
    """What a code means.

    Parameters
    ----------
    code : str
        The code, such as ``RT101``.
    level : str
        How bad it is: ``race``, ``fault`` or ``advice``, which does not count.
    title : str
        What is wrong, in a clause.
    kinds : list of str
        Words of the judges for it.
    why, section : str
        Why it is wrong, and where the rule stands.
    example, cure : str
        Smallest code with it, and what to change.
    """

    code: str
    level: str
    title: str
    kinds: list[str]
    why: str
    section: str
    example: str
    cure: str


@cache
def codes() -> dict[str, Code]:
    """All codes, ascending."""
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return {each["code"]: Code(**each) for each in tomllib.loads(text)["code"]}


@cache
def code_of(kind: str) -> str:
    """Code of a judge's word."""
    return next(each.code for each in codes().values() if kind in each.kinds)


def level_of(kind: str) -> str:
    """Level of a judge's word."""
    return codes()[code_of(kind)].level


def find_code(code: str) -> Code:
    """What a code means.

    Raises
    ------
    ValueError
        If there is no such code; the error names the nearest.
    """
    known = codes()
    if code.upper() not in known:
        raise ValueError(unknown_name("code", code, list(known)))
    return known[code.upper()]
