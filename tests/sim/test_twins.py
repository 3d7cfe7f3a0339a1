"""C++ declarations made from those in Python, and the check of a library that is loaded."""

import ctypes
from dataclasses import replace
from enum import IntEnum, IntFlag

import numpy as np
import pytest

from racetrap.sim.accelerator.compiled import detector
from racetrap.sim.compiled_library import compiled_library, load_library
from racetrap.sim.cosim.noncoherent import fast_harness as noncoherent_harness
from racetrap.sim.cosim.scord import compiled_settings
from racetrap.sim.cosim.scord import fast_harness as scord_harness
from racetrap.sim.cosim.sigrace import fast_harness as sigrace_harness
from racetrap.sim.cpu import exact_detector, merge
from racetrap.sim.cpu.sigrace import compiled_sigrace
from racetrap.sim.cpu.thread_twins import THREAD_TWINS
from racetrap.sim.failure import Failure
from racetrap.sim.gpu.oracle import compiled_oracle
from racetrap.sim.twins import (
    check_twins,
    constants,
    enumeration,
    numbers,
    positions,
    record,
    structure,
)

TWINS = {
    "accelerator": detector._TWINS,
    "exact detector": exact_detector._TWINS,
    "gpu oracle": compiled_oracle._TWINS,
    "merge": merge._TWINS,
    "noncoherent simulation": noncoherent_harness.HARNESS.twins,
    "scord": compiled_settings.SCORD_TWINS,
    "scord simulation": scord_harness.HARNESS.twins,
    "sigrace": compiled_sigrace._TWINS,
    "sigrace simulation": sigrace_harness.HARNESS.twins,
    "trace rules": THREAD_TWINS,
}
_OPTIONS = ("-std=c++20",)


class Code(IntEnum):
    NONE = 0
    SECOND = 7


class Bits(IntFlag):
    NONE = 0
    HIGH = 0x80


class Inner(ctypes.Structure):
    _fields_ = (("one", ctypes.c_uint32), ("two", ctypes.c_uint64))


class Outer(ctypes.Structure):
    _fields_ = (
        ("inner", Inner), ("rows", ctypes.c_uint32 * 5), ("data", ctypes.c_void_p),
        ("last", ctypes.c_int64),
    )  # fmt: skip


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RACETRAP_CACHE", str(tmp_path / "cache"))


def library_of(twins, folder, text="", functions=()):
    """A library that has nothing but the declarations, and a text of C++."""
    source = folder / "source.cpp"
    source.write_text(f'#include "twins.h"\n{text}')
    return compiled_library("planted", [source], _OPTIONS, dict(functions), twins)


@pytest.mark.parametrize("name", TWINS)
def test_every_field_that_differs_is_named(name, tmp_path):
    twins = TWINS[name]
    library = library_of(twins, tmp_path)
    check_twins(library, name, twins)
    planted = 0
    for number, twin in enumerate(twins):
        for place, (offset, size) in twin.places.items():
            for other in ((offset + 4, size), (offset, size + 1), None):
                places = {each: at for each, at in twin.places.items() if each != place}
                if other is not None:
                    places[place] = other
                changed = [*twins[:number], replace(twin, places=places), *twins[number + 1 :]]
                with pytest.raises(Failure, match=rf"^Library {name} must have .*\b{place} "):
                    check_twins(library, name, changed)
                planted += 1
    assert planted >= 10


def test_a_library_of_other_declarations_is_refused(tmp_path):
    twins = (numbers("Counts", ("reads", "writes")),)
    library_of(twins, tmp_path)
    [path] = (tmp_path / "cache").rglob("*.so")
    more = (numbers("Counts", ("reads", "writes", "fences")),)
    with pytest.raises(Failure, match="must have Counts of 24 bytes at byte 0, not Counts of 16"):
        load_library(path, "old", {}, more)


def test_codes_and_positions_have_their_values(tmp_path):
    twins = (
        enumeration(Code, renamed={"NONE": "NO_CODE"}),
        enumeration(Bits, bits=8, prefix="BIT_"),
        positions("Place", ("first", "second"), prefix="at_"),
        constants({"MOST": 0x1_0000_0000}, ctype="uint64_t"),
    )
    values = {
        "NO_CODE": 0, "SECOND": 7, "BIT_NONE": 0, "BIT_HIGH": 0x80, "AT_FIRST": 0, "AT_SECOND": 1,
        "Place_COUNT": 2, "MOST": 1 << 32, "sizeof(Code)": 4, "sizeof(Bits)": 1,
    }  # fmt: skip
    text = f'extern "C" uint64_t value(int n) {{ uint64_t all[] = {{{", ".join(values)}}}; ' + (
        "return all[n]; }\n"
    )
    function = {"value": (ctypes.c_uint64, [ctypes.c_int])}
    library = library_of(twins, tmp_path, text, function)
    assert [library.value(number) for number in range(len(values))] == list(values.values())


def test_structures_are_read_as_they_were_written(tmp_path):
    dtype = np.dtype([("address", "<u8"), ("lanes", "u1", (2, 3)), ("unused", "u1", 2)])
    twins = (
        structure(Inner),
        structure(Outer, types={"data": "const uint16_t *"}),
        record(dtype, "Record", is_ordered=True),
    )
    text = """extern "C" uint64_t sum(const Outer *outer, const Record *records) {
        return outer->inner.two + outer->rows[4] + outer->data[1] + outer->last +
               records[1].lanes[1][2] + (records[0] < records[1]);
    }
    """
    functions = {"sum": (ctypes.c_uint64, [ctypes.c_void_p] * 2)}
    library = library_of(twins, tmp_path, text, functions)
    data = np.array([0, 3000], np.uint16)
    outer = Outer(Inner(1, 10), (ctypes.c_uint32 * 5)(0, 0, 0, 0, 200), data.ctypes.data, 40_000)
    records = np.zeros(2, dtype)
    records[1]["address"] = 1
    records[1]["lanes"][1, 2] = 5
    assert library.sum(ctypes.addressof(outer), records.ctypes.data) == 10 + 200 + 43_000 + 5 + 1


def test_a_field_that_cxx_puts_elsewhere_is_named_by_the_compiler(tmp_path):
    packed = np.dtype([("kind", "u1"), ("address", "<u8")])
    with pytest.raises(Failure, match=r"Odd\.address must have 8 bytes at byte 1"):
        library_of((record(packed, "Odd"),), tmp_path)
