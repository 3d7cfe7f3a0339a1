"""The cache of the example system against a plain memory, verilated."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from racetrap.rtl.soc.cache import Cache, CacheParams, Maintenance
from racetrap.sim.failure import Failure
from racetrap.sim.soc.build import Design, build_program, definitions


def wrong_words(
    params: CacheParams, accesses: int, seed: int,
    make: Callable[[CacheParams], Any] = Cache, bug: str = "",
) -> int:  # fmt: skip
    """Words that differ from a plain memory's in a random, race-free program.

    Parameters
    ----------
    params : CacheParams
        The cache.
    accesses : int
        Random steps, each with an access or maintenance, or both.
    seed : int
        Seed of all choices.
    make, bug : callable, str
        Another cache, and its name, to plant a bug.

    Raises
    ------
    Failure
        If it cannot be built, or does not answer.
    """
    constants = definitions((kind.name, kind)
                            for kind in Maintenance)  # fmt: skip
    design = Design(
        "cache", lambda: make(params), Path(__file__).with_suffix(".cpp"), constants,
        key=(asdict(params), bug),
    )  # fmt: skip
    command = [str(build_program(design)), str(seed), str(accesses)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"Cache must answer every access (seed {seed}): {done.stdout.strip()}")
    return int(done.stdout.split()[1])
