"""Parameters of tests: some for `make test`, the others for `make campaign`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def later_but(now: Callable[[Any], bool], values: Iterable[Any]) -> list[Any]:
    """Parameters, those that ``now`` is false of marked for the campaign; tuples are several."""
    return [_parameter(value, now(value)) for value in values]


def one_in(count: int, values: Iterable[Any]) -> list[Any]:
    """Parameters of one kind, every ``count``-th of them now, the others in the campaign."""
    return [_parameter(value, at % count == 0) for at, value in enumerate(values)]


def _parameter(value: Any, is_now: bool) -> Any:
    values = value if isinstance(value, tuple) else (value,)
    return pytest.param(*values, marks=() if is_now else pytest.mark.campaign)


def pairs_of(*choices: tuple[Any, ...]) -> list[Any]:
    """All combinations of three choices or more, each of three values or more: now as many as have
    every pair of values of two choices, the others in the campaign."""
    places = [{value: at for at, value in enumerate(values)} for values in choices]
    return later_but(
        lambda each: sum(map(dict.__getitem__, places, each)) % 3 == 0, itertools.product(*choices)
    )
