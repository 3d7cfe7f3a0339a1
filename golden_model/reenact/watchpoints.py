"""Watchpoints: the races at a racing word that a second execution finds.

Ref: SigRace (ISCA'09) Section 2.2 ("captures all the accesses to the racing address").
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.happens_before.accesses import SharedAccesses
from racetrap.golden_model.happens_before.race import RaceParty, ThreadRace
from racetrap.golden_model.trace.threads.events import GRANULE_BYTES


class Meeting(NamedTuple):
    """An access that found an unordered timestamp.

    Parameters
    ----------
    granule : int
        Number of the granule (address / 4).
    earlier, later : (int, int)
        Thread and epoch of the timestamp, and of the access.
    """

    granule: int
    earlier: tuple[int, int]
    later: tuple[int, int]


def watch(meetings: Collection[Meeting], accesses: SharedAccesses) -> list[ThreadRace]:
    """Races between the epochs with unordered accesses to a granule, in ascending order.

    Caches keep timestamps of words; a watchpoint sees the bytes of each access: accesses to
    different bytes of a word do not race.

    Parameters
    ----------
    meetings : collection of Meeting
        Findings of the caches.
    accesses : SharedAccesses
        All accesses of the trace to shared memory; atomic ones are skipped.
    """
    found = _parties(accesses, {meeting.granule for meeting in meetings})
    races = set()
    for granule, earlier, later in meetings:
        for parties in found[granule].values():
            for one, one_bytes in parties[earlier]:
                for other, other_bytes in parties[later]:
                    if (one.is_write or other.is_write) and one_bytes & other_bytes:
                        races.add(ThreadRace.of(granule * GRANULE_BYTES, one, other))
    return sorted(races)


#: Parties with the bytes they access, by location, then by thread and epoch.
_Parties = defaultdict[int, defaultdict[tuple[int, int], list[tuple[RaceParty, int]]]]


def _parties(accesses: SharedAccesses, granules: set[int]) -> defaultdict[int, _Parties]:
    """Plain accesses to some granules."""
    found: defaultdict[int, _Parties] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    watched = np.isin(accesses.granule, sorted(granules)) & ~accesses.is_atomic
    for group in np.flatnonzero(watched).tolist():
        thread, pc = int(accesses.thread[group]), int(accesses.pc[group])
        is_write, used = bool(accesses.is_write[group]), int(accesses.bytes_used[group])
        location = found[int(accesses.granule[group])][int(accesses.location[group])]
        for epoch in accesses.epoch[accesses.first[group] : accesses.first[group + 1]].tolist():
            location[thread, epoch].append((RaceParty(thread, epoch, pc, is_write), used))
    return found
