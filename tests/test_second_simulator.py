"""Replay of recorded pins on Icarus: equal if nothing differs, and what differs is found."""

import json
import shutil
from types import SimpleNamespace

import pytest

from tests.second_simulator import PRESETS, replays
from tests.support.rtl.pins import PINS, replay, without_initial_values

pytestmark = pytest.mark.skipif(
    shutil.which("iverilog") is None,
    reason="Command iverilog was not found: install it (Debian: apt install iverilog)",
)

#: Two registers, of which one has no reset, and a memory.
_VERILOG = """\
module pair(clk, rst, i, o__valid, o__payload, kept);
  input clk;
  input rst;
  input [3:0] i;
  output o__valid;
  output [3:0] o__payload;
  output [3:0] kept;
  reg o__valid = 1'h0;
  reg [3:0] data = 4'h0;
  reg [3:0] words [1:0];
  initial begin
    words[0] = 4'h0;
    words[1] = 4'h0;
  end
  always @(posedge clk) begin
    if (i[3]) data <= i;
    words[i[0]] <= i;
    if (rst) o__valid <= 1'h0;
    else o__valid <= i[3];
  end
  assign o__payload = data;
  assign kept = words[1];
endmodule
"""


@pytest.fixture
def small(tmp_path):
    widths = {"clk": 1, "rst": 1, "i": 4, "o__valid": 1, "o__payload": 4, "kept": 4}
    ports = {name: {"width": width} for name, width in widths.items()}
    (tmp_path / "pair.v").write_text(_VERILOG)
    (tmp_path / "pair.json").write_text(json.dumps({"ports": ports}))
    return SimpleNamespace(folder=tmp_path)


def _record(folder, *lines):
    """Write reset and input of each cycle, and the outputs that belong to them."""
    valid, data, words, text = 0, 0, [0, 0], ""
    for reset, i in lines:
        text += f"{reset << 4 | i:x} {valid << 8 | data << 4 | words[1]:x}\n"
        data, valid = (i, 1) if i & 8 else (data, 0)
        valid, words[i & 1] = valid & ~reset, i
    (folder / PINS).write_text(text)
    return text


_CYCLES = ((1, 0), (1, 0), (0, 9), (0, 2), (0, 12), (0, 0))


def test_a_right_record_is_equal(small):
    _record(small.folder, *_CYCLES)
    result = replay("pair", small, small.folder, bare=False)
    assert (result.cycles, result.differences, result.unknown) == (6, 0, ())


def test_a_changed_bit_is_found_with_its_port_and_cycle(small):
    text = _record(small.folder, *_CYCLES)
    lines = text.splitlines()
    before, after = lines[4].split()
    lines[4] = f"{before} {int(after, 16) ^ 0x10:x}"
    (small.folder / PINS).write_text("\n".join(lines) + "\n")
    result = replay("pair", small, small.folder, bare=False)
    assert (result.differences, result.first) == (1, "cycle 4: o__payload")


def test_what_no_reset_sets_is_unknown_unless_a_payload_is_not_valid(small):
    _record(small.folder, *_CYCLES)
    result = replay("pair", small, small.folder, bare=True)
    assert (result.differences, result.unknown) == (0, ("kept",))


def test_initial_values_are_left_out():
    bare = without_initial_values(_VERILOG)
    assert "initial" not in bare
    assert "  reg [3:0] data;" in bare
    assert "o__valid <= 1'h0" in bare


@pytest.mark.campaign
@pytest.mark.parametrize("preset", PRESETS)
def test_a_detector_is_equal_and_known(preset):
    transactions, results = replays(preset, 10_000)
    assert transactions >= 10_000
    for result in results:
        assert (result.differences, result.first, result.unknown) == (0, "", ())
