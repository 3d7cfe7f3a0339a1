"""Kept state bits are those of the design, and come without a cache, too."""

from dataclasses import replace

import pytest

from racetrap.generators.presets import PRESETS
from racetrap.generators.state import state_parts
from racetrap.sim.content_cache import CacheError
from racetrap.sim.cosim.verilator import state_cache

_TINY = PRESETS["scord-tiny"].params


def test_elaborated_once(monkeypatch, tmp_path):
    monkeypatch.setenv("RACETRAP_CACHE", str(tmp_path))
    made = []
    monkeypatch.setattr(
        state_cache, "state_parts", lambda params: made.append(params) or state_parts(params)
    )
    other = replace(_TINY, lock_table_depth=3)
    for params in (_TINY, _TINY, other, other):
        assert state_cache.kept_state_parts(params) == state_parts(params)
    assert made == [_TINY, other]


def test_cache_that_cannot_be_written(monkeypatch):
    def refuse(*_):
        raise CacheError("Cache folder must be writable")

    monkeypatch.setattr(state_cache, "keep_json", refuse)
    assert state_cache.kept_state_parts(_TINY) == state_parts(_TINY)


def test_error_of_the_design_is_not_taken_for_a_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("RACETRAP_CACHE", str(tmp_path))
    monkeypatch.setattr(state_cache, "state_parts", lambda params: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        state_cache.kept_state_parts(_TINY)
