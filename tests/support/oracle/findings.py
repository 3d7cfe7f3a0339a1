"""Findings for tests: races between lines of a file."""

from racetrap.verdict.line_pairs import LinePair, LinePairs, LineRace, Side


def line_race(earlier: str, later: str, instances: int = 1, **changes) -> LineRace:
    """A race between two places."""
    values = {
        "kind": "unordered", "reason": "nothing orders the two accesses",
        "relation": "inter-block", "where": "global address 0x100, launch 0", "block_pairs": 1,
    }  # fmt: skip
    sides = (
        Side(earlier, "load", "thread 1 of block 0", 7),
        Side(later, "store", "thread 3 of block 2", 3),
    )
    return LineRace(*sides, instances=instances, **values | changes)


def line_pair(earlier: str, later: str, instances: int = 1, **changes) -> LinePair:
    """A finding between two places."""
    pairs = LinePairs()
    pairs.add([line_race(earlier, later, instances, **changes)])
    (pair,) = pairs.found.values()
    return pair
