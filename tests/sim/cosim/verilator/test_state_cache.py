"""Kept state bits are those of the design, and come without a cache, too."""

from dataclasses import replace

import pytest

from racetrap.generators.presets import PRESETS
from racetrap.generators.state import StatePart
from racetrap.sim.content_cache import CacheError
from racetrap.sim.cosim.verilator import state_cache

_TINY = PRESETS["scord-tiny"].params


def test_elaborated_once(monkeypatch, tmp_path):
    monkeypatch.setenv("RACETRAP_CACHE", str(tmp_path))
    other = replace(_TINY, lock_table_depth=3)
    made = []
    parts = {_TINY: [StatePart("tracker", 1, 2, 3)], other: [StatePart("bank", 4, 5, 6)]}
    monkeypatch.setattr(
        state_cache, "state_parts", lambda params: made.append(params) or parts[params]
    )
    for params in (_TINY, _TINY, other, other):
        assert state_cache.kept_state_parts(params) == parts[params]
    assert made == [_TINY, other]


def test_cache_that_cannot_be_written(monkeypatch):
    def refuse(*_):
        raise CacheError("Cache folder must be writable")

    parts = [StatePart("tracker", 1, 2, 3)]
    monkeypatch.setattr(state_cache, "keep_json", refuse)
    monkeypatch.setattr(state_cache, "state_parts", lambda params: parts)
    assert state_cache.kept_state_parts(_TINY) == parts


def test_error_of_the_design_is_not_taken_for_a_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("RACETRAP_CACHE", str(tmp_path))
    monkeypatch.setattr(state_cache, "state_parts", lambda params: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        state_cache.kept_state_parts(_TINY)
