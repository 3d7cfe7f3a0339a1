"""Verilog of components whose structures have fields without bits."""

import re

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Module, Mux
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from racetrap.generators.distinct_modules import distinct_modules
from racetrap.generators.verilog import _without_empty_fields, to_verilog
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.gpu.report_path import ReportPath
from racetrap.rtl.scord.detector_bank import DetectorBank
from tests.support import REPOSITORY

_PARAMS = ScordParams(sm_count=1, warps_per_sm=2, outstanding=4, address_bits=16)
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


class _Choice(wiring.Component):
    choose: In(1)
    i: In(_LAYOUT)
    o: Out(_LAYOUT)

    def elaborate(self, platform):
        m = Module()
        m.d.comb += [self.o.none.eq(Mux(self.choose, self.i.none, 0)), self.o.some.eq(self.i.some)]
        return m


def test_a_choice_of_nothing_is_left_out():
    text = to_verilog(_Choice(), "choice")
    assert "-1:0" not in text
    assert "none" not in text


class _ConstantParts(wiring.Component):
    i: In(1)
    o: Out(data.StructLayout({"kind": 4, "never": 8, "one": 2}))

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.o.one.eq(3)
        with m.If(self.i):
            m.d.comb += self.o.kind.eq(5)
        return m


def test_what_assigns_a_constant_runs():
    text = to_verilog(_ConstantParts(), "parts")
    blocks = re.findall(r"  always @\*(?: begin)?\n(.*?\n)", text)
    assert len(blocks) == 3
    # The first line names a register that the block then reads.
    for block in blocks:
        assert re.fullmatch(r" +if \(\\\$auto\S+ \) begin end\n", block)


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
    assert "$signal" not in to_verilog(DetectorBank(_PARAMS), "bank")


_PLACE = re.compile(r' *\(\* src = "(\S+):(\d+)" \*\)\n?')


def test_source_locators_are_all_that_is_added():
    """Every name is there either way; a place is a line of a package, wherever that is."""
    plain = to_verilog(ReportPath(_PARAMS), "path")
    located = to_verilog(ReportPath(_PARAMS), "path", forms=["source-locators"])
    assert "".join(_PLACE.sub("", located).split()) == "".join(plain.split())
    places = set(_PLACE.findall(located))
    assert len(places) > 70
    assert {path.split("/")[0] for path, _ in places} == {"amaranth", "racetrap"}
    for path, line in places:
        if path.startswith("racetrap/"):
            assert len((REPOSITORY / path).read_text().splitlines()) >= int(line)


def test_every_named_signal_is_in_the_verilog():
    """Amaranth writes a wire for each signal; none is lost on the way to Verilog."""
    written = "".join(to_verilog(ReportPath(_PARAMS), "path").split("\\"))
    for module in distinct_modules(ReportPath(_PARAMS), "path").values():
        text = _without_empty_fields(rtlil.convert_fragment(module, emit_src=False)[0])
        for name in re.findall(r"^  wire .*\\(\S+)$", text, re.MULTILINE):
            assert re.search(rf"[ \]]{re.escape(name)}[ ;,]", written), name


def test_unknown_form():
    with pytest.raises(ValueError, match="Unknown form of Verilog 'src': choose asynchronous-"):
        to_verilog(_Register(), "register", forms=["src"])
