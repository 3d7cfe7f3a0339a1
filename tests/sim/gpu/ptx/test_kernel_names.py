"""Names of kernels as programmers write them."""

import pytest

from racetrap.sim.gpu.ptx.kernel_names import (
    is_named,
    member_numbers,
    template_arguments,
    variable_name,
    written_name,
)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("plain", "plain"),
        ("_Z3addPKiPii", "add"),
        ("_Z2tkILi3EEvPi", "tk<3>"),
        ("_Z4sortIfPFbiiEEvT_", "sort<float, bool (*)(int, int)>"),
        ("_ZN3lib4scanEv", "lib::scan"),
        ("_Znonsense", "_Znonsense"),
    ],
)
def test_written_name(name, written):
    assert written_name(name) == written
    assert is_named(name, name)
    assert is_named(name, written)
    assert is_named(name, written.partition("<")[0])
    assert not is_named(name, written + "x")


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("counter", ("", "counter")),
        ("_ZN3lib4lockE", ("", "lib::lock")),
        ("_ZZ5totalPKiPiE5parts", ("total", "parts")),
        ("_ZZ5totalE5parts", ("total", "parts")),  # of a function without C++ linkage
        ("_ZZN3lib4scanILi4EfEEvPT0_E1s", ("lib::scan<4, float>", "s")),
        ("_ZZ8exchangePKiPiE6record_$_1_$_20", ("exchange", "record")),
    ],
)
def test_variable_name(name, written):
    assert variable_name(name) == written


def test_members_that_the_compiler_divides():
    assert member_numbers("_ZZ8exchangePKiPiE6record_$_1_$_20") == [1, 20]
    assert member_numbers("_ZZ5totalPKiPiE5parts") == []


def test_template_arguments():
    assert template_arguments("sort<float, bool (*)(int, int)>") == [
        "float", "bool (*)(int, int)",
    ]  # fmt: skip
    assert template_arguments("plain") == []
