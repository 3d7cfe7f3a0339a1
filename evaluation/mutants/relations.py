"""Proof that a mutant of a block changes nothing that matters, by a relation found by hand.

A mutant may keep its words at other addresses, or anything in a register while nobody reads it.
The block without and with it then has other registers, and yet does the same.  No search finds the
relation between the two states; that it holds from reset on, and that outputs are equal, is proved.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from racetrap.evaluation.mutants.equivalence import (
    field_of,
    is_proved,
    run_yosys,
    two_sides,
    write_cut,
)
from racetrap.evaluation.mutants.run import PROOF_SOURCES, BlockRun, Finding, Outcome
from racetrap.evaluation.mutants.two_sides import Relation, TwoSides
from racetrap.evaluation.processes import cpu_seconds
from racetrap.sim.cosim.verilator.mutants import Mutant, module_texts
from racetrap.sim.failure import Failure

#: The relations, by preset, and by block and change.
RELATIONS_FILE = Path(__file__).parent / "relations.toml"
#: Sources that the result of such a proof depends on.
RELATION_SOURCES = (
    *(f"evaluation/mutants/{name}.py" for name in ("relations", "two_sides")), *PROOF_SOURCES
)  # fmt: skip


@cache
def relations() -> Mapping[str, Mapping[str, Relation]]:
    """The relations, by preset, and by block and change."""
    every = tomllib.loads(RELATIONS_FILE.read_text(encoding="utf-8"))
    return {
        preset: {
            name: Relation(**values | {"facts": tuple(values.get("facts", ()))})
            for name, values in each.items()
        }
        for preset, each in every.items()
    }


def relation_of(preset: str, mutant: Mutant) -> Relation | None:
    """The relation that someone has found for a mutant of a preset."""
    return relations().get(preset, {}).get(mutant.name)


@dataclass(frozen=True)
class RelationRun(BlockRun):
    """A relation that is tried of a mutant.

    Parameters
    ----------
    relation : Relation or None
        Its relation, if there is one.
    seconds : int
        CPU time that the proof may take.
    """

    relation: Relation | None
    seconds: int


def try_relation(run: RelationRun) -> Finding:
    """Try to prove a mutant's relation."""
    started, relation = cpu_seconds(), run.relation
    if relation is None or not is_related(run.folder, run.mutant, relation, run.seconds):
        return Finding(Outcome.SURVIVED, seconds=cpu_seconds() - started)
    says = f"equal from reset on, by induction over a relation: {relation.why}"
    return Finding(Outcome.EQUIVALENT, None, says, cpu_seconds() - started)


def is_related(folder: Path, mutant: Mutant, relation: Relation, seconds: int) -> bool:
    """Whether it is proved that a relation holds, and that outputs are equal.

    Parameters
    ----------
    folder : Path
        Folder of the build with mutants.
    mutant : Mutant
        The mutant.
    relation : Relation
        The relation.
    seconds : int
        Time limit of the proof.

    Raises
    ------
    Failure
        If the relation names what the block does not have, or Yosys fails.
    """
    root = field_of(mutant, "module")
    with TemporaryDirectory() as made:
        write_cut(Path(made), module_texts(folder), {root})
        _yosys(
            made, f"{two_sides(root, mutant.command)}opt_clean -purge\n"
            "write_json with_registers.json\nexpose -evert-dff gold/c:* gate/c:*\nopt_clean\n"
            "write_json sides.json\nwrite_rtlil sides.il\n", seconds,
        )  # fmt: skip
        before, after = (
            json.loads(Path(made, f"{name}.json").read_text(encoding="utf-8"))["modules"]
            for name in ("with_registers", "sides")
        )
        sides = TwoSides(mutant.name, after, before["gold"]["netnames"])
        Path(made, "relation.v").write_text(sides.verilog(relation), encoding="utf-8")
        proofs = (
            "read_rtlil sides.il\nread_verilog -sv relation.v\nhierarchy -check -top relation\n"
            f"flatten\nopt -full relation\nsat -prove {name} 0 -timeout {seconds} relation\n"
            for name in ("wrong_at_first", "wrong_next")
        )
        return all(_yosys(made, each, seconds) for each in proofs)


def _yosys(folder: str, script: str, seconds: int) -> bool:
    done = run_yosys(Path(folder), script, seconds)
    if done is not None and done.returncode:
        raise Failure(f"Yosys failed: {done.stderr.strip()[-500:]}")
    return done is not None and is_proved(done)
