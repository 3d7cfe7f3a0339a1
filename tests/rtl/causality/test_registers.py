"""Causality's register description and the values that the hardware supplies."""

import pytest

from racetrap.golden_model.causality.packets import RaceKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.detector_bank import DetectorBank
from racetrap.rtl.causality.registers import compile_registers, supplied_constants
from racetrap.rtl.common.register_description import FieldKind, field_kind
from racetrap.rtl.common.registers import RegisterBlock

_LARGEST = CausalityParams(
    sm_count=108, blocks_per_sm=32, warps_per_sm=64, clock_bits=12, epoch_bits=4, hash_bits=1024,
    known=4, pending=4, seen=4, levels=4, records=4, ratio=64, banks=128, address_bits=64,
    outstanding=1024, report_fifo_depth=1024, shared_bytes=1 << 18,
)  # fmt: skip


def test_no_two_registers_share_an_address():
    addresses = [node.address_offset for node in compile_registers(_LARGEST).registers()]
    assert len(set(addresses)) == len(addresses)


def test_every_counter_has_a_register():
    counters = {
        node.inst_name.lower()
        for node in compile_registers(CausalityParams()).registers()
        if any(field_kind(field) is FieldKind.COUNTER for field in node.fields())
    }
    assert counters == {
        *DetectorBank(CausalityParams()).o_count[0].shape().members,
        *(f"races_{kind.name.lower()}" for kind in RaceKind if kind),
        "knowledge_evictions", "pending_full", "clock_wraps",
        "reports_written", "reports_dropped", "reports_suppressed", "report_write_errors",
    }  # fmt: skip


@pytest.mark.parametrize("params", [CausalityParams(), _LARGEST])
def test_values_of_an_instance_fit(params):
    description = compile_registers(params)
    fields = {
        (register.inst_name.lower(), field.inst_name): field
        for register in description.registers() for field in register.fields()
    }  # fmt: skip
    for register, values in supplied_constants(params).items():
        for name, value in values.items():
            assert value >> fields[register, name].width == 0, (register, name, value)
    assert len(RegisterBlock(description).accesses.count.increment) >= params.banks.bit_length()
