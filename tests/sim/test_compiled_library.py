"""Shared libraries that are compiled once and kept."""

from ctypes import c_int

import pytest

from racetrap.sim.compiled_library import compiled_library
from racetrap.sim.failure import Failure

_FUNCTIONS = {"twice": (c_int, [c_int])}


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RACETRAP_CACHE", str(tmp_path / "cache"))


def test_compiled_once_with_the_types_of_its_functions(tmp_path):
    header, source = tmp_path / "factor.h", tmp_path / "twice.cpp"
    header.write_text("enum { FACTOR = 2 };\n")
    source.write_text('#include "factor.h"\nextern "C" int twice(int n) { return FACTOR * n; }\n')
    for _ in range(2):
        library = compiled_library("twice", [source, header], ["-std=c++17"], _FUNCTIONS)
        assert library.twice(21) == 42
    header.write_text("enum { FACTOR = 3 };\n")
    assert compiled_library("twice", [source, header], [], _FUNCTIONS).twice(21) == 63
    assert len(list((tmp_path / "cache").rglob("*.so"))) == 2


def test_refused_source(tmp_path):
    source = tmp_path / "twice.cpp"
    source.write_text("int twice(\n")
    with pytest.raises(Failure, match=r"Library twice cannot be compiled:\n.*twice\.cpp"):
        compiled_library("twice", [source], [], _FUNCTIONS)
