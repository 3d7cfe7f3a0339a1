"""Registers for other tools: IP-XACT and SystemRDL say what the hardware's description says."""

import json
from xml.etree import ElementTree

import pytest
from systemrdl import RDLCompiler

NAMES = {"ipxact": "http://www.accellera.org/XMLSchema/IPXACT/1685-2014"}
ACCESS = {"read-only": "r", "read-write": "rw"}


@pytest.fixture(scope="module", params=["scord-tiny", "sigrace-tiny"])
def generated(request, made):
    paths = made(request.param)
    return paths, json.loads(paths["description"].read_text())


def text_of(element, name):
    return element.find(f"ipxact:{name}", NAMES).text


def number_of(element, name):
    return int(text_of(element, name).replace("'h", "0x"), 0)


def test_ipxact_component_is_named_after_the_module(generated):
    paths, description = generated
    component = ElementTree.parse(paths["ipxact"]).getroot()
    assert component.tag == f"{{{NAMES['ipxact']}}}component"
    shown = [text_of(component, name) for name in ("vendor", "library", "name", "version")]
    version = description["tools"]["racetrap"]
    assert shown == ["racetrap", "detectors", description["module"], version]


def test_ipxact_lists_the_sources(generated):
    paths, _ = generated
    component = ElementTree.parse(paths["ipxact"]).getroot()
    listed = {
        text_of(file, "name"): text_of(file, "fileType")
        for file in component.iterfind("ipxact:fileSets/ipxact:fileSet/ipxact:file", NAMES)
    }
    assert listed == {
        path.name: "systemVerilogSource" if kind == "package" else "verilogSource"
        for kind, path in paths.items()
        if kind == "package" or kind.startswith("verilog")
    }


def test_ipxact_registers_are_those_of_the_description(generated):
    paths, description = generated
    component = ElementTree.parse(paths["ipxact"]).getroot()
    registers = {}
    for register in component.iterfind(".//ipxact:register", NAMES):
        if register.find("ipxact:isPresent", NAMES) is not None:
            assert text_of(register, "isPresent") == "0"  # of other instances
            continue
        assert number_of(register, "size") == 32
        registers[text_of(register, "name")] = {
            "offset": number_of(register, "addressOffset"),
            "fields": {
                text_of(field, "name"): {
                    "offset": number_of(field, "bitOffset"),
                    "width": number_of(field, "bitWidth"),
                    "access": ACCESS[text_of(field, "access")],
                }
                for field in register.iterfind("ipxact:field", NAMES)
            },
        }
    assert registers == {
        name: {
            "offset": register["offset"],
            "fields": {
                field: {key: place[key] for key in ("offset", "width", "access")}
                for field, place in register["fields"].items()
            },
        }
        for name, register in description["registers"].items()
    }


def test_systemrdl_source_compiles_to_the_described_registers(generated):
    paths, description = generated
    compiler = RDLCompiler()
    compiler.compile_file(str(paths["systemrdl"]))
    registers = {
        register.inst_name: register.address_offset
        for register in compiler.elaborate().top.registers()
    }
    assert registers == {
        name: register["offset"] for name, register in description["registers"].items()
    }
