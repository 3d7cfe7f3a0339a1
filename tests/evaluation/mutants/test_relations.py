"""Mutants that a relation between the states without and with them proves to be equivalent."""

from dataclasses import replace
from random import Random

import pytest

from racetrap.evaluation.mutants.block_library import build_block
from racetrap.evaluation.mutants.relations import (
    RelationRun,
    is_related,
    relation_of,
    relations,
    try_relation,
)
from racetrap.evaluation.mutants.run import Outcome
from racetrap.evaluation.mutants.two_sides import Relation
from racetrap.generators.presets import find_preset
from racetrap.sim.cosim.verilator.build_cache import BACK_DOORS
from racetrap.sim.cosim.verilator.mutants import MutantDraw, make_mutants, read_mutants
from racetrap.sim.failure import Failure

#: Two ports look at a table at an address that one signal makes; what is shown counts if `valid`.
_VERILOG = """
module small(clk, rst, a, b, side, write, i, o, valid);
  input clk, rst, side, write;
  input [1:0] a, b;
  input [2:0] i;
  output [2:0] o;
  output valid;
  wire [1:0] at;
  reg [2:0] words [3:0];
  integer n;
  initial for (n = 0; n < 4; n = n + 1) words[n] = 0;
  reg [2:0] o = 0;
  reg valid = 0;
  assign at = side ? a : b;
  always @(posedge clk) begin
    if (write) words[at] <= i;
    if (!write) o <= words[at];
    valid <= !rst && !write;
  end
endmodule
"""
#: Words are at other addresses; what was shown last is not held.
_MOVES, _FORGETS = "Y[0] of mux at inverted", "B[0] of mux inverted"
_ELSEWHERE = Relation("other addresses", {"words[{i}]": "gate.words[{i^1}] == gold.words[{i}]"})
_UNREAD = Relation(
    "what is not valid is not read", {"o": "!gold.valid || gate.o == gold.o"},
    outputs={"o": "out.valid"},
)  # fmt: skip


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    (folder / "small.v").write_text(_VERILOG.lstrip())
    (folder / BACK_DOORS).write_text('`verilator_config\npublic_flat_rw -module "a" -var "b"\n')
    make_mutants("small", folder, MutantDraw((), 200))
    return folder, read_mutants(folder)


def _differs(library, mutant, reads_all):
    """Whether random inputs show a difference, in what is valid or in all."""
    rng, plain, changed = Random("small"), library.instance(0), library.instance(mutant.number)
    inputs = [port for port in library.ports if port.is_input]
    valid = 32 * [port.name for port in library.ports if not port.is_input].index("valid")
    for _ in range(300):
        given = sum(rng.getrandbits(port.width) << 32 * at for at, port in enumerate(inputs))
        one, other = (each.evaluate(given, has_edge=True) for each in (plain, changed))
        matters = reads_all or one >> valid & 1 or other >> valid & 1
        if matters and one != other:
            return True
    return False


@pytest.mark.parametrize("relation", [_ELSEWHERE, _UNREAD, Relation("equal")], ids=lambda r: r.why)
def test_what_is_proved_does_not_show(small, relation):
    folder, every = small
    mutants = [*every[::20], *(_one(small, change)[1] for change in (_MOVES, _FORGETS))]
    library = build_block(folder, "small")
    proved = [mutant for mutant in mutants if is_related(folder, mutant, relation, 60)]
    reads_all = not relation.outputs
    assert [each.change for each in proved if _differs(library, each, reads_all)] == []
    due = {_ELSEWHERE.why: {_MOVES}, _UNREAD.why: {_FORGETS}}.get(relation.why, set())
    assert {each.change for each in proved} & {_MOVES, _FORGETS} == due


def _one(small, change):
    folder, mutants = small
    (found,) = (each for each in mutants if each.change == change)
    return folder, found


@pytest.mark.parametrize(
    "state",
    [
        "gate.words[{i^2}] == gold.words[{i}]",  # the address has another bit inverted
        "gate.words[{i^1}] == gold.words[{i}] && gold.words[{i}] == 7",  # not at first
        "gate.words[{i^1}] == gold.words[{i}] && gold.words[{i}] == 0",  # not for long
    ],
)
def test_a_wrong_relation_is_not_proved(small, state):
    folder, mutant = _one(small, _MOVES)
    assert is_related(folder, mutant, _ELSEWHERE, 60)
    assert not is_related(folder, mutant, replace(_ELSEWHERE, state={"words[{i}]": state}), 60)


def test_what_is_given_is_used_alone_where_it_matters(small):
    folder, mutant = _one(small, _MOVES)
    nothing = Relation("nothing is written, and nothing but 0 read")
    assert not is_related(folder, mutant, nothing, 60)
    facts = tuple(f"gold.words[{place}] == 0" for place in range(4))
    assert is_related(folder, mutant, replace(nothing, facts=facts, given="!in.write"), 60)


@pytest.mark.parametrize(
    ("relation", "named"),
    [
        (Relation("", {"word": "1"}), "word"),
        (Relation("", {"valid": "1"}, outputs={"words[0]": "1"}), r"words\[0\]"),
        (Relation("", {"none[{i}]": "1"}), "none"),
        (Relation("", {"o": "gold.word == 0"}), "gold.word"),
        (Relation("", facts=("in.write",)), "in.write"),
        (Relation("", outputs={"o": "out.none"}), "out.none"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_names_must_be_known(small, relation, named):
    folder, mutant = _one(small, _MOVES)
    with pytest.raises(Failure, match=named):
        is_related(folder, mutant, relation, 60)


def test_finding_says_why(small):
    folder, mutant = _one(small, _MOVES)
    found = try_relation(RelationRun(folder, "", mutant, _ELSEWHERE, 60))
    assert found.outcome is Outcome.EQUIVALENT
    assert found.reason.endswith(_ELSEWHERE.why)
    unknown = RelationRun(folder, "", mutant, relation_of("small", mutant), 60)
    assert unknown.relation is None
    assert try_relation(unknown).outcome is Outcome.SURVIVED


def test_relations_are_of_presets_and_say_why():
    for preset, each in relations().items():
        find_preset(preset)
        assert [name for name, relation in each.items() if not relation.why] == []
