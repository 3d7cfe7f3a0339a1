"""Configurations of SigRace that the tests of its testbench build, each of them once."""

from __future__ import annotations

from typing import Any

_SMALL = {"lsb_bits": 6, "filter_bits": 16}  # soon built
#: With room in the log, so that each reason comes alone: one build of several tests.
SMALL: dict[str, Any] = {**_SMALL, "filters": 4, "log_depth": 8}
#: Changes of the preset sigrace-tiny: together they have every corner of the parameters.
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "small": SMALL,
    "tiny": {},
    "hashed-two-contexts": {
        **_SMALL, "contexts": 2, "threads": 4, "form": "hashed", "one_hot_lsb": True,
        "sequence_bits": 4, "scanners": 3, "decompressors": 2,
    },
    "one-of-all": {
        **_SMALL, "cores": 1, "contexts": 3, "threads": 2, "history_depth": 1, "usb_limit": 1,
        "trap_depth": 1, "log_depth": 1, "log_blocks": 1, "sequence_bits": 2,
    },
}  # fmt: skip
#: The same for the Race Detection Module alone.
RDM: dict[str, Any] = {**_SMALL, "contexts": 2, "threads": 4, "scanners": 2}
