"""Cached state bits of configurations: elaborating a large system takes seconds."""

from __future__ import annotations

from dataclasses import asdict

from racetrap.generators.state import StatePart, state_parts
from racetrap.generators.system import Params
from racetrap.generators.systems import system_of
from racetrap.sim.content_cache import CacheError, keep_json
from racetrap.sim.cosim.verilator.build_cache import build_key


def kept_state_parts(params: Params) -> list[StatePart]:
    """As ``state_parts``; elaborated once for each configuration if the cache is writable."""
    key = build_key(system_of(params).name, asdict(params))
    try:
        parts = keep_json("state", key, lambda: [asdict(part) for part in state_parts(params)])
    except CacheError:
        return state_parts(params)
    return [StatePart(**part) for part in parts]
