"""Parameters of tests: some for `make test`, the others for `make campaign`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def later_but(now: Callable[[Any], bool], values: Iterable[Any]) -> list[Any]:
    """Parameters, those that ``now`` is false of marked for the campaign; tuples are several."""
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)),
            marks=() if now(value) else pytest.mark.campaign,
        )
        for value in values
    ]


def pairs_of(*choices: tuple[Any, ...]) -> list[Any]:
    """All combinations of three choices or more, each of three values or more: now as many as have
    every pair of values of two choices, the others in the campaign."""
    places = [{value: at for at, value in enumerate(values)} for values in choices]
    return later_but(
        lambda each: sum(map(dict.__getitem__, places, each)) % 3 == 0, itertools.product(*choices)
    )
