"""ScoRD's register description and the values that the hardware supplies."""

from dataclasses import asdict, replace

import pytest

from racetrap.generators.scord import SCORD
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.axi import AxiResponse
from racetrap.rtl.common.register_description import FieldKind, field_kind
from racetrap.rtl.common.registers import REGISTER_ADDRESS_BITS, RegisterBlock
from racetrap.rtl.gpu.register_wiring import REGION_REGISTERS
from racetrap.rtl.scord.detector_bank import DetectorBank
from racetrap.rtl.scord.registers import (
    compile_registers,
    supplied_constants,
)
from racetrap.rtl.scord.system import ScordSystem
from tests.support.rtl.axi_lite import axil_read, axil_write
from tests.support.rtl.streams import simulate

REGISTERS = {node.inst_name: node for node in compile_registers(ScordParams()).registers()}
SMALLEST = ScordParams(
    sm_count=1, blocks_per_sm=1, warps_per_sm=1, ratio=1, lock_table_depth=1, outstanding=4
)
LARGEST = ScordParams(
    sm_count=64, ratio=64, blocks_per_sm=32, banks=16, lock_table_depth=16, outstanding=256,
    address_bits=64, report_fifo_depth=1024, fence_id_bits=2, barrier_id_bits=16,
    access_buffer_depth=256, access_policy="sample", sample_log2=15,
)  # fmt: skip


@pytest.mark.parametrize(
    "settings",
    [{}, {"regions": 8, "banks": 256, "access_buffer_depth": 2, "access_policy": "drop"}],
)
def test_no_two_registers_share_an_address(settings):
    registers = compile_registers(ScordParams(**settings)).registers()
    addresses = [node.address_offset for node in registers]
    assert len(set(addresses)) == len(addresses)
    assert max(addresses) < 4096


def test_every_counter_of_a_bank_has_a_register():
    counters = {
        name.lower()
        for name, node in REGISTERS.items()
        if any(field_kind(field) is FieldKind.COUNTER for field in node.fields())
    }
    bank = DetectorBank(ScordParams())
    assert counters == {
        *bank.o_count[0].shape().members,
        "reports_written", "reports_suppressed", "report_write_errors",
    }  # fmt: skip


@pytest.mark.parametrize(
    "params", [ScordParams(), SCORD.presets["scord-wide"].params, ScordParams(banks=1024)]
)
def test_counters_take_the_pulses_of_every_bank_at_once(params):
    """The report path may add one to the dropped reports of all banks; all may take fences."""
    block = RegisterBlock(compile_registers(params))
    for counter, most in (
        (block.reports_dropped, params.banks + 1),
        (block.fences, params.banks * params.fence_lanes),
    ):
        assert len(counter.count.increment) >= most.bit_length()


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({}, set()),
        ({"access_buffer_depth": 2}, {"PARAMS_ACCESS_BUFFER"}),
        (
            {"access_buffer_depth": 2, "access_policy": "drop"},
            {"PARAMS_ACCESS_BUFFER", "ACCESSES_LEFT_OUT"},
        ),
    ],
)
def test_an_instance_has_the_registers_of_its_access_buffers(settings, names):
    there = {node.inst_name for node in compile_registers(ScordParams(**settings)).registers()}
    assert there & {"PARAMS_ACCESS_BUFFER", "ACCESSES_LEFT_OUT"} == names


@pytest.mark.parametrize("bits", [0, 64])
def test_an_instance_has_the_register_of_its_valid_table(bits):
    params = ScordParams(valid_segments=bits)
    names = {node.inst_name for node in compile_registers(params).registers()}
    assert ("PARAMS_VALID" in names) == (bits > 0)


@pytest.mark.parametrize("regions", [1, 2, 8])
def test_an_instance_has_the_registers_of_its_regions(regions):
    names = {node.inst_name for node in compile_registers(ScordParams(regions=regions)).registers()}
    of_table = {f"REGION{n}_{name}" for n in range(regions) for name in REGION_REGISTERS}
    others = names - {node for node in names if node.startswith("REGION")}
    if regions == 1:
        assert "REGION_SIZE_LOG2" in names
        assert not of_table & names
    else:
        assert of_table == names - others
    assert ("DATA_BASE_LO" in names) == (regions == 1)
    assert ("PARAMS_REGIONS" in names) == (regions > 1)


@pytest.mark.parametrize(
    "params",
    [
        SMALLEST,
        ScordParams(),
        LARGEST,
        ScordParams(regions=8, banks=640),
        ScordParams(valid_segments=1 << 28),
    ],
)
def test_constants_fit_their_fields(params):
    for register, fields in supplied_constants(params).items():
        node = compile_registers(params).get_child_by_name(register.upper())
        wires = {f.inst_name: f for f in node.fields() if field_kind(f) is FieldKind.WIRE}
        assert set(wires) == set(fields)
        for name, value in fields.items():
            assert value < 1 << wires[name].width, name


def test_identity_and_parameters_read_back():
    params = replace(
        SCORD.presets["scord-tiny"].params, outstanding=16, access_buffer_depth=6,
        access_policy="sample", sample_log2=3,
    )  # fmt: skip
    dut = ScordSystem(params)
    read = {}
    used = {node.address_offset for node in compile_registers(params).registers()}
    free = max(set(range(0, 1 << REGISTER_ADDRESS_BITS, 4)) - used)

    async def testbench(ctx):
        for node in compile_registers(params).registers():
            if not node.inst_name.startswith(("ID", "PARAMS")):
                continue
            word, response = await axil_read(ctx, dut.s_axil, node.address_offset)
            assert response == AxiResponse.OKAY
            for field in node.fields():
                read[field.inst_name] = word >> field.lsb & (1 << field.width) - 1
        assert (await axil_read(ctx, dut.s_axil, free))[1] == AxiResponse.SLVERR
        assert await axil_write(ctx, dut.s_axil, 0x0, 1) == AxiResponse.SLVERR

    simulate(dut, testbench)
    assert read.pop("value") == int.from_bytes(b"ScRD", "big")
    assert (read.pop("local_metadata"), read.pop("drops")) == (0, 0)
    assert read == {name: int(value) for name, value in asdict(params).items() if name in read}
    assert len(read) == 17
