"""Parameters of tests: some for `make test`, the others for `make campaign`."""

from __future__ import annotations

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
