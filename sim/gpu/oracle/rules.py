"""Race oracle by any rule: PTX's memory model, and the papers'.

Ref: ScoRD (ISCA'20) Section V-A; BARRACUDA (PLDI'17) Section 3; PTX ISA 9.0, Section 8.7.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from racetrap.golden_model.barracuda import Barracuda, Race, Result, ScopedOracle
from racetrap.golden_model.events import Space
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.oracle.compiled_oracle import CompiledOracle
from racetrap.sim.gpu.oracle.findings import OracleRule

#: Rules of papers, whose warps run in lockstep: BARRACUDA's, and that of the ScoRD paper's tables.
_OF_PAPERS: Mapping[str, type[Barracuda] | type[ScopedOracle]] = MappingProxyType(
    {"barracuda": Barracuda, "scoped": ScopedOracle}
)
#: Rules by which the oracle can judge: the default first, and that of ScoRD's tables last.
ORACLE_RULES = (*(rule.value for rule in OracleRule), *_OF_PAPERS)
JUDGE, PAPER_RULE = ORACLE_RULES[0], ORACLE_RULES[-1]


def assumes_lockstep(rule: str) -> bool:
    """Whether a rule takes the lanes of a warp for ordered by lockstep, however they ran."""
    return rule in _OF_PAPERS


def run_oracle(trace: Trace, rule: str, independent: bool = False) -> Result:
    """Races of a run by one of ``ORACLE_RULES``.

    Parameters
    ----------
    trace : Trace
        The run.
    rule : str
        What is a race.
    independent : bool
        Whether the lanes of a warp are scheduled independently; the papers' rules assume lockstep.

    Raises
    ------
    ValueError
        If the rule is a paper's, and the run has clusters of several blocks.
    """
    if own := _OF_PAPERS.get(rule):
        if trace.has_clusters:
            raise ValueError(
                f"Rule of a run with clusters of several blocks must be {ORACLE_RULES[0]} or "
                f"{ORACLE_RULES[1]}, not {rule}, which knows no clusters"
            )
        return own().run(trace)
    return CompiledOracle(OracleRule(rule), independent).run(trace)


def ordered_by_lockstep(trace: Trace, rule: str, found: Iterable[Race]) -> list[Race]:
    """Pairs that would race if the lanes of a warp were scheduled independently.

    Parameters
    ----------
    trace : Trace
        The run.
    rule : str
        What is a race.
    found : iterable of Race
        Races of the run in lockstep, which are left out.
    """
    if assumes_lockstep(rule):
        return []
    return without_known(run_oracle(trace, rule, True).races, found)


def without_known(races: Iterable[Race], known: Iterable[Race]) -> list[Race]:
    """Races at whose instructions there is none that is known."""
    places = {_place(race) for race in known}
    return [race for race in races if _place(race) not in places]


def _place(race: Race) -> tuple[frozenset[int], Space]:
    return frozenset((race.first.pc, race.second.pc)), race.space
