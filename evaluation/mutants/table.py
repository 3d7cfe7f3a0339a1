"""Mutants that the campaign kills: a row for each block, and every survivor with its reason."""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from racetrap.evaluation.mutants.run import BY_DIGEST, MutantResult, Outcome
from racetrap.evaluation.table import Cell, Table

#: Reasons of survivors that were examined, by preset, and by block and change.
EXPLAINED_FILE = Path(__file__).parent / "survivors.toml"
#: Quantile of the normal distribution for an interval of 95 %.
_QUANTILE = 1.96

#: Names of the rows of several blocks.
SUMS = "blocks with state", "all"
_COLUMNS = (
    "block", "state", "mutants", "killed", "by digest", "equivalent", "survived", "explained",
    "score %", "95 % interval",
)  # fmt: skip


def wilson(hits: int, of: int) -> tuple[float, float]:
    """Wilson's interval of 95 % for a share."""
    if not of:
        return 0.0, 1.0
    share, square = hits / of, _QUANTILE**2 / of
    middle = share + square / 2
    half = _QUANTILE * math.sqrt(share * (1 - share) / of + square / of / 4)
    return (middle - half) / (1 + square), (middle + half) / (1 + square)


@cache
def explanations() -> Mapping[str, Mapping[str, str]]:
    """Reasons of the survivors that were examined, by preset."""
    return tomllib.loads(EXPLAINED_FILE.read_text(encoding="utf-8"))


def survivors(results: Sequence[MutantResult]) -> list[MutantResult]:
    """Mutants that neither a case nor a proof has settled."""
    return [result for result in results if result.outcome is Outcome.SURVIVED]


def unexplained(preset: str, results: Sequence[MutantResult]) -> list[MutantResult]:
    """Survivors without a reason."""
    known = explanations().get(preset, {})
    return [result for result in survivors(results) if result.mutant.name not in known]


def tables(
    preset: str, found: Mapping[str, Sequence[MutantResult]], with_sums: bool = True
) -> list[Table]:
    """Blocks with their scores, and survivors.

    Parameters
    ----------
    preset : str
        The preset.
    found : mapping of str to sequence of MutantResult
        Results of each block's mutants.
    with_sums : bool
        Whether these are all blocks, which have sums.
    """
    rows = [_row(preset, block, results) for block, results in found.items()]
    every = [result for results in found.values() for result in results]
    stateful = [result for result in every if result.mutant.has_state]
    if with_sums:
        rows += [
            _row(preset, name, each) for name, each in zip(SUMS, (stateful, every), strict=True)
        ]
    known = explanations().get(preset, {})
    return [
        Table(
            "blocks", f"Mutants of {preset}",
            "The score is the share of the mutants not proved to be equivalent that were killed; "
            "of these, the digest alone was another in some.",
            _COLUMNS, tuple(rows),
        ),
        Table(
            "survivors", f"Survivors of {preset}", "",
            ("number", "block", "change", "reason"),
            tuple(
                (each.mutant.number, each.mutant.block, each.mutant.change,
                 known.get(each.mutant.name))
                for each in survivors(every)
            ),
        ),
    ]  # fmt: skip


def _row(preset: str, name: str, results: Sequence[MutantResult]) -> tuple[Cell, ...]:
    counts = Counter(result.outcome for result in results)
    killed, judged = counts[Outcome.KILLED], len(results) - counts[Outcome.EQUIVALENT]
    by_digest = sum(result.reason == BY_DIGEST for result in results)
    low, high = wilson(killed, judged)
    explained = counts[Outcome.SURVIVED] - len(unexplained(preset, results))
    return (
        name, _state(results),
        len(results), killed, by_digest, counts[Outcome.EQUIVALENT], counts[Outcome.SURVIVED],
        explained,
        round(100 * killed / judged, 1) if judged else None,
        f"{100 * low:.1f}-{100 * high:.1f}" if judged else None,
    )  # fmt: skip


def _state(results: Sequence[MutantResult]) -> str:
    """Whether all, none or some of the mutants are of a block with state."""
    kinds = {result.mutant.has_state for result in results}
    return "some" if len(kinds) > 1 else "yes" if True in kinds else "no"
