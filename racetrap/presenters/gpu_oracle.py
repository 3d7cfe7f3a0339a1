"""Races of the oracle with the detector's outcomes, as JSON."""

from __future__ import annotations

from collections.abc import Mapping

from racetrap.golden_model.barracuda import Party, Race
from racetrap.schemas.gpu_races import Oracle, OraclePair, OracleParty
from racetrap.schemas.values import document
from racetrap.verdict.gpu.oracle import is_missed
from racetrap.verdict.gpu.trace_check import DetectorRun


def oracle_to_dict(run: DetectorRun, locations: Mapping[int, str]) -> Oracle:
    """Every race of the oracle, and the detector's outcome, as plain data."""

    def party(one: Party) -> OracleParty:
        kind, location = one.access.name.lower(), locations.get(one.pc)
        return document(OracleParty, one, kind=kind, location=location)

    def pair(race: Race) -> OraclePair:
        return {
            "kind": race.kind.value,
            "class": race.race_class.value,
            "space": race.space.name.lower(),
            "address": race.address,
            "earlier": party(race.first),
            "later": party(race.second),
            "reason": race.reason,
        }

    return {
        "races": [
            {**pair(each.race), "outcome": each.outcome, "missed": is_missed(each)}
            for each in run.outcomes
        ],
        "unordered_strong": list(map(pair, run.unordered_strong)),
        "ordered_by_lockstep": list(map(pair, run.ordered_by_lockstep)),
    }
