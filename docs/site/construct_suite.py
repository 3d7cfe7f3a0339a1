"""Tables of the suite of constructs, made by running it."""

from __future__ import annotations

from collections.abc import Mapping

from docs.site.markdown import table
from racetrap.sim.gpu.executor.machine.shapes import shape_text
from tests.support.gpu.construct_verdicts import Verdict, is_right
from tests.support.gpu.constructs.cases import CONSTRUCTS, GROUPS, Pair, refusal


def constructs_table() -> str:
    """Each construct with the kernels that have it, or the sentence that refuses it."""
    rows = []
    listed = {
        kernel for pairs in GROUPS.values() for pair in pairs for kernel in (pair.free, pair.racy)
    }
    for name, kernels in CONSTRUCTS.items():
        runs = ", ".join(f"`{kernel}`" for kernel in kernels if kernel in listed)
        refused = " ".join(f"{refusal(kernel)}." for kernel in kernels if kernel not in listed)
        rows.append((name, runs, refused))
    return table(("construct", "runs, and is judged correctly, in", "refused with"), rows)


def _counts(title: str, pairs: list[Pair], found: Mapping[str, Verdict]) -> list[object]:
    right = sum(is_right(pair, found) for pair in pairs)
    free = [found[pair.free].detector for pair in pairs]
    racy = [found[pair.racy].detector for pair in pairs]
    return [
        title, len(pairs), f"{2 * right} of {2 * len(pairs)}",
        *(free.count(word) for word in ("silent", "imposed by the method", "false")),
        *(racy.count(word) for word in ("reported", "out of scope", "missed")),
    ]  # fmt: skip


def detector_sentence(found: Mapping[str, Verdict]) -> str:
    """What ScoRD reports of all kernels, in a sentence, from the verdict on each by name."""
    pairs = [pair for pairs in GROUPS.values() for pair in pairs]
    free = [found[pair.free].detector for pair in pairs]
    racy = [found[pair.racy].detector for pair in pairs]
    return (
        f"Of the {len(pairs)} race-free kernels of the [suite of constructs](construct-suite.md) "
        f"ScoRD reports {len(pairs) - free.count('silent')}: {free.count('imposed by the method')} "
        f"by what its method imposes, {free.count('false')} for other reasons. Of the {len(pairs)} "
        f"racy ones it reports {racy.count('reported')}, {racy.count('out of scope')} are out of "
        f"scope, and it misses {racy.count('missed')}.\n"
    )


def verdicts_tables(found: Mapping[str, Verdict]) -> str:
    """Counts and verdicts, from the verdict on every kernel by name."""
    every = [pair for pairs in GROUPS.values() for pair in pairs]
    counts = (
        "group", "pairs", "oracle right", "race-free: silent", "imposed by the method", "false",
        "racy: reported", "out of scope", "missed",
    )  # fmt: skip
    groups = (*GROUPS.items(), ("All", every))
    parts = [table(counts, (_counts(title, list(pairs), found) for title, pairs in groups))]
    columns = (
        "race-free", "racy", "grid, block", "class of the race", "why it races",
        "ScoRD on the race-free kernel", "ScoRD on the racy kernel",
    )  # fmt: skip
    for title, pairs in GROUPS.items():
        rows = [
            (
                f"`{pair.free}`", f"`{pair.racy}`",
                f"{shape_text(pair.grid)}, {shape_text(pair.block)}",
                ", ".join(sorted(pair.races)), pair.reason, found[pair.free].explanation(),
                found[pair.racy].explanation(),
            )
            for pair in pairs
        ]  # fmt: skip
        parts.append(f"### {title}\n\n{table(columns, rows)}")
    return "\n".join(parts)
