"""False positives of signatures (Fig. 7).

Ref: SigRace (ISCA'09) Section 5.2, Tables 5 and 6, Fig. 7.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from racetrap.evaluation.sigrace.blocks import Blocks, make_blocks
from racetrap.evaluation.sigrace.exact_sets import ExactSets
from racetrap.evaluation.sigrace.execution import Execution
from racetrap.evaluation.sigrace.signatures import Signatures
from racetrap.evaluation.sigrace.windows import Searches, make_searches, unordered_pairs
from racetrap.golden_model.sigrace.params import (
    ORGANISATIONS,
    PARTITIONS,
    Form,
    SigraceParams,
)

__all__ = ["FalsePositives", "false_positives", "false_positives_of", "paper_configurations"]

_BIT_COUNTS = np.array([bits.bit_count() for bits in range(8)])


@dataclass(frozen=True)
class FalsePositives:
    """Intersections executed, and those that say something common though there is nothing.

    Parameters
    ----------
    pairs, intersections : int
        Unordered pairs of blocks, and intersections of their signatures: three each.
    false_pairs, false_intersections : int
        Pairs with a false intersection and no true one; intersections that are not null though
        the sets are disjoint.
    true_pairs, true_intersections : int
        Those with common addresses.
    """

    pairs: int
    intersections: int
    false_pairs: int
    false_intersections: int
    true_pairs: int
    true_intersections: int

    @property
    def rate(self) -> float:
        """False-positive rate as in Fig. 7."""
        return self.false_intersections / self.intersections if self.intersections else 0.0

    @property
    def pair_rate(self) -> float:
        """Share of the pairs that would be analysed for nothing."""
        return self.false_pairs / self.pairs if self.pairs else 0.0


def paper_configurations(params: SigraceParams) -> dict[str, SigraceParams]:
    """The 18 signature configurations B1_S1 to B3_S6, else as ``params``; all of form hashed."""
    return {
        f"B{partition}_S{organisation}": replace(
            params, form=Form.HASHED, lsb_bits=lsb_bits, filters=filters, filter_bits=filter_bits,
            one_hot_lsb=False,
        )
        for partition, lsb_bits in PARTITIONS.items()
        for organisation, (filters, filter_bits) in ORGANISATIONS.items()
    }  # fmt: skip


def false_positives(
    execution: Execution,
    configurations: Mapping[str, SigraceParams],
    block_params: SigraceParams,
    sync_only: bool = False,
) -> dict[str, FalsePositives]:
    """False positives of several signature configurations on the same blocks.

    Parameters
    ----------
    execution : Execution
        The program.
    configurations : mapping of str to SigraceParams
        Signatures to compare.
    block_params : SigraceParams
        Block size, form and depth of the queues.
    sync_only : bool
        Blocks end at synchronisations only.
    """
    blocks = make_blocks(execution, block_params, sync_only)
    searches = make_searches(execution, blocks)
    return false_positives_of(blocks, searches, configurations, block_params.history_depth)


def false_positives_of(
    blocks: Blocks,
    searches: Searches,
    configurations: Mapping[str, SigraceParams],
    depth: int | None,
) -> dict[str, FalsePositives]:
    """As ``false_positives``, for given blocks, and queues of ``depth`` entries."""
    exact = ExactSets(blocks)
    signatures = {name: Signatures(each, blocks) for name, each in configurations.items()}
    counts = {name: np.zeros(6, np.int64) for name in configurations}
    for pairs in unordered_pairs(searches, depth):
        true = exact.conflicts(pairs)
        for name, each in signatures.items():
            false = each.conflicts(pairs) & ~true
            counts[name] += [
                len(true),
                3 * len(true),
                int(np.count_nonzero((false != 0) & (true == 0))),
                int(_BIT_COUNTS[false].sum()),
                int(np.count_nonzero(true)),
                int(_BIT_COUNTS[true].sum()),
            ]
    return {name: FalsePositives(*each.tolist()) for name, each in counts.items()}
