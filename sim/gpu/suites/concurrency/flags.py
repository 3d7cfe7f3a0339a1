"""Verdicts of flags.cu: message passing.

The paper takes a store behind a fence for a release and a load before a fence for an acquire,
which it does not check for races themselves; one of the two must have device scope if the
blocks differ.  The scope-aware oracle wants the release's scope, and not the reader's fence.

Ref: BARRACUDA (PLDI'17) Section 3.3.3, Fig. 4.
"""

from functools import partial

from racetrap.sim.gpu.suites.concurrency.case import INTER_BLOCK, INTRA_BLOCK, NONE, Case

__all__ = ["FLAG_CASES"]

_warps = partial(Case, source="flags", grid=1, block=64)
_blocks = partial(Case, source="flags", grid=2, block=1)
_NO_FENCE = "Neither release nor acquire."
_NO_RELEASE = "Without the writer's fence there is no release."
_NO_ACQUIRE = "Without the reader's fence there is no acquire."
_OPEN_FLAG = "the flag is volatile, not atomic, and read while it is written"

_MESSAGES = (
    _warps("message_warps_none_none", INTRA_BLOCK, _NO_FENCE),
    _warps("message_warps_none_block", INTRA_BLOCK, _NO_RELEASE),
    _warps("message_warps_none_device", INTRA_BLOCK, _NO_RELEASE),
    _warps("message_warps_block_none", INTRA_BLOCK, _NO_ACQUIRE),
    _warps(
        "message_warps_block_block", NONE, "Block fences do in one block.",
        scoped=INTRA_BLOCK, scoped_reason=_OPEN_FLAG,
    ),
    _warps(
        "message_warps_block_device", NONE, "Block fence and device fence do in one block.",
        scoped=INTRA_BLOCK, scoped_reason=_OPEN_FLAG,
    ),
    _warps("message_warps_device_none", INTRA_BLOCK, _NO_ACQUIRE),
    _warps(
        "message_warps_device_block", NONE, "Device fence and block fence do in one block.",
        scoped=INTRA_BLOCK, scoped_reason=_OPEN_FLAG,
    ),
    _warps(
        "message_warps_device_device", NONE, "Device fences do anywhere.",
        scoped=INTRA_BLOCK, scoped_reason=_OPEN_FLAG,
    ),
    _blocks("message_blocks_none_none", INTER_BLOCK, _NO_FENCE),
    _blocks("message_blocks_none_block", INTER_BLOCK, _NO_RELEASE),
    _blocks("message_blocks_none_device", INTER_BLOCK, _NO_RELEASE),
    _blocks("message_blocks_block_none", INTER_BLOCK, _NO_ACQUIRE),
    _blocks("message_blocks_block_block", INTER_BLOCK, "Block fences end at the block."),
    _blocks(
        "message_blocks_block_device", NONE, "One device fence of the two is enough.",
        scoped=INTER_BLOCK, scoped_reason=_OPEN_FLAG,
    ),
    _blocks("message_blocks_device_none", INTER_BLOCK, _NO_ACQUIRE),
    _blocks(
        "message_blocks_device_block", NONE, "One device fence of the two is enough.",
        scoped=INTER_BLOCK, scoped_reason=_OPEN_FLAG,
    ),
    _blocks(
        "message_blocks_device_device", NONE, "Device fences do anywhere.",
        scoped=INTER_BLOCK, scoped_reason=_OPEN_FLAG,
    ),
    _warps(
        "message_shared_block", NONE, "Data and flag in shared memory, block fences.",
        scoped=INTRA_BLOCK, scoped_reason=_OPEN_FLAG,
    ),
    _warps("message_shared_none", INTRA_BLOCK, "Volatile alone orders nothing."),
)  # fmt: skip

_VARIANTS = (
    _blocks("exchange_flag", NONE, "Release by exchange, acquire by an exchange in fences."),
    _blocks(
        "exchange_flag_reader_unfenced", INTER_BLOCK, _NO_ACQUIRE,
        scoped=NONE, scoped_reason="an exchange acquires without a fence",
    ),
    _blocks("exchange_flag_writer_unfenced", INTER_BLOCK, _NO_RELEASE),
    _blocks("exchange_flag_block_fences", INTER_BLOCK, "Block fences end at the block."),
    _blocks(
        "exchange_flag_writer_block", NONE, "One device fence of the two is enough.",
        scoped=INTER_BLOCK, scoped_reason="the release ends at the block",
    ),
    _blocks("exchange_flag_reader_block", NONE, "One device fence of the two is enough."),
    _blocks(
        "flag_before_data", NONE,
        "The data's store stands behind the fence, so the paper takes it for a release.",
        scoped=INTER_BLOCK, scoped_reason="the data is not ordered",
    ),
    _blocks("read_before_flag", INTER_BLOCK, "The data is read before the flag is seen."),
    _blocks(
        "writer_looks_back", NONE,
        "The other's store stands behind a fence, so the paper takes it for a release.",
        scoped=INTER_BLOCK, scoped_reason="the data is not ordered",
    ),
    _blocks(
        "weak_data", NONE, "The paper does not tell weak from volatile.",
        scoped=INTER_BLOCK, scoped_reason="fences order strong accesses only",
    ),
    _blocks("ping_pong", NONE, "The word changes hands with release and acquire each time."),
    _blocks("chain_of_blocks", NONE, "Order is transitive over the block between.", grid=3),
    _warps(
        "relay_block_then_device", NONE, "Block order, then device order.", grid=2,
        scord_reason="the writer made no device fence: the go-between did for it",
    ),
    _warps("relay_block_then_block", INTER_BLOCK, "The last leg ends at the block.", grid=2),
    _blocks(
        "acquire_release_device", NONE, "Release and acquire by name, device scope.",
        scord_reason="a flag that is stored and loaded is data like any other",
    ),
    _blocks("acquire_release_block", INTER_BLOCK, "Release and acquire end at the block."),
    _blocks("relaxed_device", INTER_BLOCK, "Relaxed accesses order nothing."),
)  # fmt: skip

FLAG_CASES = _MESSAGES + _VARIANTS
