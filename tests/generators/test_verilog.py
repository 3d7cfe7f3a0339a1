"""Verilog of components whose structures have fields without bits."""

from amaranth.hdl import Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from racetrap.generators.verilog import _without_empty_fields, to_verilog
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.scord.detector_bank import DetectorBank

_LAYOUT = data.StructLayout({"none": 0, "some": 4})


class _Register(wiring.Component):
    i: In(_LAYOUT)
    o: Out(_LAYOUT)

    def elaborate(self, platform):
        m = Module()
        m.d.sync += self.o.eq(self.i)
        return m


def test_fields_without_bits_are_left_out():
    text = to_verilog(_Register(), "register")
    assert "-1:0" not in text
    assert "some" in text
    assert "none" not in text


def test_what_something_else_names_is_kept():
    module = """module \\top
  wire width 0 \\alone
  wire width 0 \\named
  connect \\alone {  }
  connect \\named {  }
  cell $not $1
    connect \\A \\named
  end
end
"""
    kept = _without_empty_fields(module)
    assert "alone" not in kept
    assert kept.count("named") == 3


def test_a_port_of_a_cell_that_has_no_bits_is_kept():
    module = """module \\top
  cell $eq $1
    parameter \\B_WIDTH 0
    connect \\A \\level
    connect \\B {  }
  end
end
"""
    assert _without_empty_fields(module) == module


def test_every_signal_of_a_bank_has_a_name():
    """Amaranth calls ``$signal`` what it finds no name for, as in an assignment to several."""
    params = ScordParams(sm_count=1, warps_per_sm=2, outstanding=4, address_bits=16)
    assert "$signal" not in to_verilog(DetectorBank(params), "bank")
