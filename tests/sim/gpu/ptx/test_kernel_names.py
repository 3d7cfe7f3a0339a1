"""Names of kernels as programmers write them."""

import pytest

from racetrap.sim.gpu.ptx.kernel_names import is_named, written_name


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
