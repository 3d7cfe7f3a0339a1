"""Words of registers from their description, in both directions."""

import pytest

from racetrap.generators.description import describe_registers
from racetrap.generators.register_map import RegisterMap
from racetrap.golden_model.scord.params import ScordParams


@pytest.fixture(scope="module")
def registers():
    return RegisterMap(describe_registers(ScordParams()))


def test_pack_and_take_apart(registers):
    word = registers.pack("CONTROL", enable=1, clear_counters=1)
    assert word == 0x201
    assert registers.pack("CONTROL") == 0
    fields = ("enable", "launch", "clear_counters")
    assert [registers.fields("CONTROL", word)[name] for name in fields] == [1, 0, 1]
    assert registers.fields("VERSION", 0x00120003)["minor"] == 0x12


def test_addresses(registers):
    assert registers.address("STATUS") == 0x44
    names = registers.names_from("REPORTS_SUPPRESSED")
    assert names[0] == "REPORTS_SUPPRESSED"
    assert names[-1] == "REPORT_WRITE_ERRORS"
    assert "REPORTS_DROPPED" not in names


def test_unknown_names(registers):
    with pytest.raises(KeyError, match="NOTHING"):
        registers.address("NOTHING")
    with pytest.raises(KeyError, match="speed"):
        registers.pack("CONTROL", speed=1)
