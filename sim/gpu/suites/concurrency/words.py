"""Verdicts of words.cu: parts of words, vectors and histograms, between warps of a block.

Ref: BARRACUDA (PLDI'17) Section 4.3.3 (1-byte granularity).
"""

from functools import partial

from racetrap.sim.gpu.suites.concurrency.case import DIVERGENCE, INTRA_BLOCK, NONE, Case

__all__ = ["WORD_CASES"]

_case = partial(Case, source="words", grid=1, block=64)

WORD_CASES = (
    _case(
        "bytes_of_a_word", NONE, "Each warp has its own byte.",
        scord_reason="the granule is a 4-byte word",
    ),
    _case(
        "halves_of_a_word", NONE, "Each warp has its own half.",
        scord_reason="the granule is a 4-byte word",
    ),
    _case("byte_inside_a_word", INTRA_BLOCK, "One warp's byte lies in the other's word."),
    _case("vectors_side_by_side", NONE, "The word lies behind the vector's four."),
    _case("vector_over_a_word", INTRA_BLOCK, "The word is the vector's last."),
    _case("shared_histogram_atomic", NONE, "Atomics between barriers."),
    _case(
        "shared_histogram_plain", DIVERGENCE | INTRA_BLOCK,
        "Lanes of one warp and of two warps store different counts.",
    ),
    _case("shared_histogram_no_barrier", INTRA_BLOCK, "A count may come before its zero."),
)  # fmt: skip
