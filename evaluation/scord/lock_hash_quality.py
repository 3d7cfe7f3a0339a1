"""Measures how often the lock filters of two warps look as if they had a lock in common.

``python -m racetrap.evaluation.scord.lock_hash_quality [--samples N] [--seed N]`` prints the
tables of ``docs/lock-hash.md``.

Ref: ScoRD (ISCA'20) Section IV-A "Detecting races due to lock/unlock".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import click

from racetrap.golden_model.events import Scope
from racetrap.golden_model.scord.bloom_filter import filter_of_key, share_a_lock
from racetrap.golden_model.scord.lock_hash import block_mask, lock_hash
from racetrap.golden_model.scord.params import ScordParams

#: Byte distances between the two locks.
DISTANCES = tuple(4 << power for power in range(11))
_WORD_RANGE = 1 << 30
_KEYS = 1 << 6

#: Hash of a word address, and mask of a BlockID.
Scheme = tuple[Callable[[int], int], Callable[[int], int]]


def _hash_from_one(word: int) -> int:
    """Our polynomial with address bit 0 hashed to 1, the obvious choice."""
    value = 0
    for bit in reversed(range(word.bit_length())):
        value = value << 1 | word >> bit & 1
        if value >> 6:
            value ^= 0b1000011
    return value


#: Ours; ours with other sets of masks, and with the plain hash; and the published one, which
#: keeps the low six bits of byte address XOR (block + 1).
SCHEMES: dict[str, Scheme] = {
    "ours": (lock_hash, block_mask),
    "63 masks": (lock_hash, lambda block: 1 + block % 63),
    "7 masks": (lock_hash, lambda block: 1 + block % 7),
    "hash from 1": (_hash_from_one, block_mask),
    "published": (lambda word: 4 * word % _KEYS, lambda block: (block + 1) % _KEYS),
}


def _filter(scheme: Scheme, word: int, scope: Scope, block: int) -> int:
    """Filter of a warp that holds one lock."""
    hash_of, mask_of = scheme
    key = hash_of(word)
    bits = filter_of_key(key ^ mask_of(block))
    return bits | filter_of_key(key) if scope == Scope.DEVICE else bits


def _blocks(rng: Random, count: int, same: bool) -> tuple[int, int]:
    one = rng.randrange(count)
    return one, one if same else (one + rng.randrange(1, count)) % count


def different_locks(
    scheme: Scheme, distance: int, scope: Scope, same_block: bool, samples: int, rng: Random
) -> float:
    """Probability that two locks ``distance`` bytes apart look common: a race missed.

    Both are held at ``scope``, by warps of one block or of two random different blocks of the
    default configuration.
    """
    params = ScordParams()
    blocks = params.sm_count * params.blocks_per_sm
    hits = 0
    for _ in range(samples):
        word = rng.randrange(_WORD_RANGE)
        one, other = _blocks(rng, blocks, same_block)
        hits += share_a_lock(
            _filter(scheme, word, scope, one), _filter(scheme, word + distance // 4, scope, other)
        )
    return hits / samples


def same_lock(scheme: Scheme, scope: Scope, other_scope: Scope) -> float:
    """Probability that one lock looks common to two different blocks (exact, over all pairs).

    With a block scope on either side this is a race missed; otherwise it must be 1.
    """
    params = ScordParams()
    blocks = params.sm_count * params.blocks_per_sm
    pairs = [(one, other) for one in range(blocks) for other in range(blocks) if one != other]
    hits = sum(
        share_a_lock(_filter(scheme, 0, scope, one), _filter(scheme, 0, other_scope, other))
        for one, other in pairs
    )
    return hits / len(pairs)


_CASES = (
    ("device, same block", Scope.DEVICE, True),
    ("device, other block", Scope.DEVICE, False),
    ("block, same block", Scope.BLOCK, True),
    ("block, other block", Scope.BLOCK, False),
)


def _distance_tables(samples: int, seed: int) -> Iterator[str]:
    for scheme in ("ours", "published"):
        yield f"\nDifferent locks, {scheme}: looks common in % of cases\n"
        yield "| distance (B) | " + " | ".join(case for case, _, _ in _CASES) + " |"
        yield "|---:|" + "---:|" * len(_CASES)
        for distance in (*DISTANCES, 0):
            cells = []
            for _, scope, same_block in _CASES:
                rng = Random(seed)
                # 0 stands for any distance from 4 B to 4 KB.
                if distance:
                    rate = different_locks(
                        SCHEMES[scheme], distance, scope, same_block, samples, rng
                    )
                else:
                    rates = [
                        different_locks(
                            SCHEMES[scheme], 4 * words, scope, same_block, samples // 100, rng
                        )
                        for words in range(1, 1025)
                    ]
                    rate = sum(rates) / len(rates)
                cells.append(f"{100 * rate:.1f}")
            yield f"| {distance or 'any to 4096'} | " + " | ".join(cells) + " |"


def _scheme_table(samples: int, seed: int) -> Iterator[str]:
    yield "\nAlternatives, two warps of different blocks: looks common in % of cases\n"
    yield (
        "| scheme | same lock, block and block | same lock, device and block "
        "| same lock, device and device | 4 B apart, device and device "
        "| 1 KB apart, device and device |"
    )
    yield "|---|---:|---:|---:|---:|---:|"
    for name, scheme in SCHEMES.items():
        rates = [
            same_lock(scheme, Scope.BLOCK, Scope.BLOCK),
            same_lock(scheme, Scope.DEVICE, Scope.BLOCK),
            same_lock(scheme, Scope.DEVICE, Scope.DEVICE),
            different_locks(scheme, 4, Scope.DEVICE, False, samples, Random(seed)),
            different_locks(scheme, 1024, Scope.DEVICE, False, samples, Random(seed)),
        ]
        yield f"| {name} | " + " | ".join(f"{100 * rate:.1f}" for rate in rates) + " |"


@click.command()
@click.option("--samples", default=20_000, show_default=True, help="Random pairs of each figure.")
@click.option("--seed", default=1, show_default=True, help="Seed of the addresses and blocks.")
def main(samples: int, seed: int) -> None:
    """Print the tables of docs/lock-hash.md."""
    click.echo(f"samples {samples}, seed {seed}")
    for line in (*_distance_tables(samples, seed), *_scheme_table(samples, seed)):
        click.echo(line)


if __name__ == "__main__":
    main()
