"""Names of kernels as programmers write them."""

import pytest

from racetrap.sim.gpu.ptx.kernel_names import is_named, variable_name, written_name


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
        ("counter", "counter"),
        ("_ZZ5totalPKiPiE5parts", "parts"),
        ("_ZZ8exchangePKiPiE6record_$_1", "record"),  # a member of a structure, by itself
    ],
)
def test_variable_name(name, written):
    assert variable_name(name) == written
