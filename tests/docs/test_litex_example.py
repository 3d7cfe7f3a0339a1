"""The LiteX wrapper connects every port of the generated Verilog, once and by its width."""

import importlib.util
import sys

import pytest

from racetrap.generators.description import describe
from racetrap.generators.presets import PRESETS
from racetrap.generators.systems import system_of
from tests.support import REPOSITORY

FOLDER = REPOSITORY / "docs" / "examples" / "litex"


@pytest.fixture(scope="module")
def detector_ports():
    spec = importlib.util.spec_from_file_location("detector_ports", FOLDER / "detector_ports.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def description_of(preset):
    params = PRESETS[preset].params
    return describe(preset, preset, params, {"": system_of(params).top(params)})


def all_ports(ports):
    groups = [*ports.buses.values(), *ports.streams.values()]
    return [name for group in groups for name in group.values()] + ports.signals


@pytest.mark.parametrize("preset", ["scord-tiny", "scord-banks4", "scord-local", "sigrace-tiny"])
def test_every_port_is_sorted_once(detector_ports, preset):
    description = description_of(preset)
    names = all_ports(detector_ports.sort_ports(description))
    assert sorted([*names, "clk", "rst"]) == sorted(description["ports"])


def test_interfaces_of_scord(detector_ports):
    ports = detector_ports.sort_ports(description_of("scord-banks4"))
    metadata = [f"m_axi_metadata__{bank}" for bank in range(4)]
    assert set(ports.buses) == {*metadata, "m_axi_report", "s_axil"}
    assert set(ports.streams) == {f"i_transaction__{sm}" for sm in range(15)}
    # The ring is only written, metadata is read and written.
    channels = {
        prefix: {detector_ports.split_channel(signal)[0] for signal in signals}
        for prefix, signals in ports.buses.items()
    }
    assert channels["m_axi_report"] == {"aw", "w", "b"}
    assert channels["s_axil"] == channels["m_axi_metadata__3"] == {"aw", "w", "b", "ar", "r"}


def test_interfaces_of_sigrace(detector_ports):
    ports = detector_ports.sort_ports(description_of("sigrace-tiny"))
    assert set(ports.buses) == {"s_axil"}
    assert set(ports.streams) == {f"{name}__{n}" for name in ("i_event", "o_trap") for n in (0, 1)}
    assert {"irq", "o_idle", "trace_rdm__valid"} <= set(ports.signals)


@pytest.mark.parametrize("preset", ["scord-tiny", "sigrace-tiny"])
def test_fields_of_a_stream_fill_its_payload(detector_ports, preset):
    description = description_of(preset)
    for prefix, signals in detector_ports.sort_ports(description).streams.items():
        fields = detector_ports.stream_fields(description, prefix)
        width = description["ports"][signals["payload"]]["width"]
        assert sum(bits for _, bits in fields) == width


def test_axi_names_are_split_into_channel_and_signal(detector_ports):
    split = {name: detector_ports.split_channel(name) for name in ("awaddr", "wlast", "bid")}
    assert split == {"awaddr": ("aw", "addr"), "wlast": ("w", "last"), "bid": ("b", "id")}
