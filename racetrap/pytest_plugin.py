"""Plug-in of pytest: the fixture ``racetrap_run`` checks a CUDA program in a test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from racetrap.calls.results import RunResult


@pytest.fixture
def racetrap_run() -> Callable[..., RunResult]:
    """A function that runs a CUDA program without a GPU, and fails the test if it has a race.

    It takes what ``racetrap.api.run`` takes, and gives its result, with what the program printed
    and its exit status.  With ``may_race=True`` races do not fail the test.
    """

    def run_program(
        program: str | Path, arguments: Sequence[str] = (), *, may_race: bool = False,
        **options: Any,
    ) -> RunResult:  # fmt: skip
        # Imported by tests that use it: pytest loads this file for all others, too.
        from racetrap.calls.run import run

        result = run(program, arguments, **options)
        if result.has_findings and not may_race:
            pytest.fail(result.text, pytrace=False)
        return result

    return run_program
