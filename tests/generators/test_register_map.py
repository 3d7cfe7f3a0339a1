"""Words of registers from their description, in both directions."""

import pytest

from racetrap.generators.description import describe_registers
from racetrap.generators.distinct_modules import distinct_modules
from racetrap.generators.presets import PRESETS
from racetrap.generators.register_map import RegisterMap, RegisterPort
from racetrap.generators.systems import SYSTEMS, system_of
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.registers import RegisterBlock


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


@pytest.mark.parametrize("preset", PRESETS)
def test_counters_are_those_of_the_description(preset):
    params = PRESETS[preset].params
    registers = sorted(system_of(params).registers(params).registers(), key=_offset)
    counters = [
        register.inst_name
        for register in registers
        if any(field.get_property("counter") for field in register.fields())
    ]
    assert counters
    assert RegisterMap(describe_registers(params)).counters == counters


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_counters_behind_a_missing_one_are_read(system):
    described = describe_registers(system.params())
    counters = RegisterMap(described).counters
    for missing in counters:
        fewer = _Constant({name: at for name, at in described.items() if name != missing})
        assert list(fewer.read_counters()) == [name.lower() for name in counters if name != missing]


@pytest.mark.parametrize("preset", [system.name for system in SYSTEMS])
def test_every_counter_counts_something(preset, monkeypatch):
    params = PRESETS[preset].params
    counted = []
    monkeypatch.setattr(
        RegisterBlock, "count", lambda self, m, events, clear: counted.extend(events)
    )
    for _ in distinct_modules(system_of(params).top(params), preset):
        pass
    counters = RegisterMap(describe_registers(params)).counters
    assert sorted(counted) == sorted(name.lower() for name in counters)


class _Constant(RegisterPort):
    """Registers that read as their address."""

    def __init__(self, described):
        super().__init__(RegisterMap(described))

    def read(self, register):
        return self.map.address(register)

    def write(self, register, value):
        raise AssertionError(f"{register} must not be written")


def _offset(register):
    return register.address_offset


def test_unknown_names(registers):
    with pytest.raises(KeyError, match="NOTHING"):
        registers.address("NOTHING")
    with pytest.raises(KeyError, match="speed"):
        registers.pack("CONTROL", speed=1)
