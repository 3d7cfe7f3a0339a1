"""Figures of the SigRace paper, for the columns beside our own.

Ref: SigRace (ISCA'09) Sections 5.2 to 5.5, Table 7, Fig. 7 to 10.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

#: False positives of B2_S2, mean of the applications (Section 5.2).
FALSE_POSITIVE_PERCENT = 1.57
#: Lost detection window with 2,000 instructions and 16 entries (Section 5.3).
LOST_WINDOW_PERCENT = 20.0
#: With caches of 32 KB (Section 5.4.2): displaced and invalidated lines with shared data whose
#: address is in the BlockHistoryQueue ...
LOST_IN_QUEUE_PERCENT = 59.0
#: ... and all of them, for each million instructions.
LOST_PER_MILLION = 2800.0
#: Addresses of a displaced block that are nowhere else in its queue, but in the cache.
CACHED_PERCENT = 13.0
#: Addresses of lines with shared data in a block, and blocks for each million instructions.
SHARED_LINES = 14.0
BLOCKS_PER_MILLION = 500.0
#: Lines for each million instructions with which W-ReEnact and SigRace lose an opportunity.
REENACT_LOSES, SIGRACE_LOSES = 1652.0, 910.0
#: Static races of Table 7, existing and injected ones together.
STATIC_SIGRACE, STATIC_REENACT = 90 + 1191, 70 + 476
#: KB of a processor: log of an interval, and written back at a checkpoint (Section 5.5).
LOG_KBYTES, WRITTEN_BACK_KBYTES = 29.0, 4.8
#: Instructions executed again, of those committed (Section 5.5) ...
INSTRUCTION_OVERHEAD_PERCENT = 22.0
#: ... and the share of them that false positives cause ("about two thirds").
FALSE_POSITIVE_SHARE = 2 / 3
#: Message bytes for each 1,000 committed instructions (Section 5.5).
BYTES_PER_1000_INSTRUCTIONS = 63.0
#: Bytes of a compressed message (Section 4.1: "about 100 bytes").
MESSAGE_BYTES = 100.0
#: Bytes of storage a thread in the RDM, and a core in the cache hierarchy (Section 5.5).
THREAD_BYTES = 8512
CORE_BYTES = 808


class PaperRaces(NamedTuple):
    """A row of Table 7, of the application that a program is in the spirit of.

    Parameters
    ----------
    application : str
        The paper's application.
    ideal, sigrace, reenact : tuple of (int, int)
        Existing races, static and dynamic, by Ideal SigRace, SigRace and W-ReEnact.
    racy_runs : int
        Racy ones of 25 runs with an injected race.
    injected_sigrace, injected_reenact : tuple of (int, int)
        Static races found in those, and runs with races found.
    """

    application: str
    ideal: tuple[int, int]
    sigrace: tuple[int, int]
    reenact: tuple[int, int]
    racy_runs: int
    injected_sigrace: tuple[int, int]
    injected_reenact: tuple[int, int]


_NONE = (0, 0)

#: Table 7 by our programs; those without a counterpart in the paper have no row.
RACES: Mapping[str, PaperRaces] = MappingProxyType({
    "fft": PaperRaces("FFT", _NONE, _NONE, _NONE, 25, (600, 25), (150, 25)),
    "cholesky": PaperRaces(
        "Cholesky", (16, 19964), (16, 3539), (16, 388), 3, (2, 1), (2, 1)
    ),
    "lu": PaperRaces("LU", _NONE, _NONE, _NONE, 25, (28, 25), (75, 25)),
    "barnes": PaperRaces("Barnes", (11, 4416), (11, 719), (6, 419), 1, (3, 1), (1, 1)),
    "ocean": PaperRaces("Ocean", (1, 29), (1, 29), (1, 6), 7, (8, 7), (8, 7)),
    "raytrace": PaperRaces("Raytrace", (4, 30), (4, 17), (3, 12), 21, (66, 21), (53, 21)),
    "water": PaperRaces("Water-ns", _NONE, _NONE, _NONE, 5, (2, 1), (4, 2)),
    "dedup": PaperRaces("Dedup", _NONE, _NONE, _NONE, 3, _NONE, _NONE),
    "streamcluster": PaperRaces(
        "Streamcluster", (13, 68566), (12, 14307), (12, 436), 6, (7, 5), (2, 2)
    ),
    "blackscholes": PaperRaces("Blackscholes", _NONE, _NONE, _NONE, 0, _NONE, _NONE),
    "fluid": PaperRaces("Fluidanimate", _NONE, _NONE, _NONE, 12, (95, 12), (90, 12)),
})  # fmt: skip
