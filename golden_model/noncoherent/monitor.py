"""Bus monitor: the rules of both modes on sets of bytes of bounded size.

Its guarantee is in terms of (operation, rule) pairs: it reports every pair that the unbounded
detectors report, and marks any further ones as possible.  An operation of several rows counts as
its rows, one after another.

The monitor cannot tell whether lost data would be read later: it reports all of it.

Ref: Young (UBC 2020) Section 3.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from racetrap.golden_model.noncoherent.bitmap import Bitmap
from racetrap.golden_model.noncoherent.interval_cam import DIGEST_TURN, Entry, IntervalCam, turned
from racetrap.golden_model.noncoherent.packets import (
    MISS,
    BusOperation,
    Hit,
    MonitorStep,
    Row,
    is_empty,
)
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.trace.noncoherent.operations import OperationKind

_K = OperationKind
_CACHED = (_K.CACHED_READ, _K.CACHED_WRITE)
_CLEAN = (_K.CACHE_CLEAN, _K.CLEAN_ALL)
_INVALIDATE = (_K.CACHE_INVALIDATE, _K.INVALIDATE_ALL)
_Range = tuple[int, int]


def counters(operations: Iterable[BusOperation], steps: Sequence[MonitorStep]) -> dict[str, int]:
    """Event counters by the register's name in lower case, after operations and their steps."""
    hits = [hit for step in steps for hit in (step.dma, step.cache) if hit.found]
    definite = sum(hit.definite for hit in hits)
    return {
        "rows": len(steps),
        "races_definite": definite,
        "races_possible": len(hits) - definite,
        "empty_operations": sum(map(is_empty, operations)),
    }


class Monitor:
    """State of a monitor.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration.

    Attributes
    ----------
    sets : dict of str to IntervalCam or Bitmap
        Sets of bytes by name: ``dirty_granules``, of mode ``strict`` also ``dirty_bytes``,
        ``valid`` (not with ``prefetch``) and ``stale``, then ``writing_0``, ``reading_0`` and so
        on of each engine; with ``write_through`` neither of the dirty ones.
    """

    def __init__(self, params: NoncoherentParams) -> None:
        self._params, self._write_unit = params, params.memory.write_unit
        cams = {name: IntervalCam(params) for name in params.set_names}
        self._cams = cams
        self.sets: dict[str, IntervalCam | Bitmap] = {**cams}
        if params.window_bytes:
            self.sets["dirty_granules"] = Bitmap(params)
        # With write-through these two stay empty.
        self._dirty = self.sets.get("dirty_granules") or IntervalCam(params)
        self._dirty_bytes = cams.get("dirty_bytes") or IntervalCam(params)
        engines = range(params.engines)
        self._writing = [cams[f"writing_{engine}"] for engine in engines]
        self._reading = [cams[f"reading_{engine}"] for engine in engines]
        self._check = self._strict if params.is_strict else self._thesis

    @property
    def digest(self) -> int:
        """32 bits that depend on every bit of all entries."""
        digest = 0
        for number, one in enumerate(self.sets.values()):
            digest ^= turned(one.digest, number * DIGEST_TURN)
        return digest

    @property
    def compactions(self) -> int:
        """How often two entries of a full set were merged."""
        return sum(one.events["compact"] for one in self.sets.values())

    def step(self, row: Row) -> MonitorStep:
        """Check a row, and update the sets."""
        if row.kind in (_K.SYNC, _K.SYNC_ALL):
            engines = [row.engine] if row.kind == _K.SYNC else range(self._params.engines)
            for engine in engines:
                self._writing[engine].clear()
                self._reading[engine].clear()
            dma = cache = MISS
        else:
            dma, cache = self._check(row)
        return MonitorStep(row, dma, cache, self.digest)

    def run(self, rows: Iterable[Row]) -> Iterator[MonitorStep]:
        """Steps of rows, one after another."""
        return map(self.step, rows)

    def _widened(self, row: Row, unit: int) -> _Range:
        return row.first & -unit, (row.end + unit - 1) & -unit

    def _others(self, sets: list[IntervalCam], row: Row) -> list[IntervalCam]:
        """Those of other engines."""
        return [one for engine, one in enumerate(sets) if engine != row.engine]

    # Mode thesis ------------------------------------------------------------------------

    def _thesis(self, row: Row) -> tuple[Hit, Hit]:
        bytes_ = row.first, row.end
        granules = self._widened(row, self._write_unit)
        lines = self._widened(row, self._params.line_bytes)
        writing, reading, dirty = self._writing, self._reading, self._dirty
        dma = cache = MISS
        if row.kind == _K.CACHED_READ:
            dma = _look_up(writing, lines)
        elif row.kind == _K.CACHED_WRITE:
            dma = _look_up([*writing, *reading], granules)
            self._make_dirty(row, granules)
        elif row.kind == _K.UNCACHED_READ:
            dma, cache = _look_up(writing, bytes_), dirty.look_up(*bytes_)
        elif row.kind == _K.UNCACHED_WRITE:
            dma, cache = _look_up([*writing, *reading], bytes_), dirty.look_up(*bytes_)
        elif row.kind == _K.DMA_READ:
            dma, cache = _look_up(self._others(writing, row), bytes_), dirty.look_up(*bytes_)
            reading[row.engine].insert(Entry(*bytes_, row.tag))
        elif row.kind == _K.DMA_WRITE:
            dma, cache = self._write_by_dma(row)
        else:
            dirty.remove(*lines)
        return dma, cache

    def _make_dirty(self, row: Row, granules: _Range) -> None:
        """Keep what a cached write may leave in the cache only."""
        if self._params.write_through:
            return
        self._dirty.insert(Entry(*granules, row.tag))
        if self._params.is_strict:
            self._dirty_bytes.insert(Entry(row.first, row.end, row.tag))

    def _write_by_dma(self, row: Row) -> tuple[Hit, Hit]:
        """Matches of a DMA write, which is then in flight; the same in both modes."""
        bytes_ = row.first, row.end
        others = [*self._others(self._writing, row), *self._others(self._reading, row)]
        dma, cache = _look_up(others, bytes_), self._dirty.look_up(*bytes_)
        self._writing[row.engine].insert(Entry(*bytes_, row.tag))
        return dma, cache

    # Mode strict ------------------------------------------------------------------------

    def _strict(self, row: Row) -> tuple[Hit, Hit]:
        kind = _K(row.kind)
        if kind in _CACHED:
            return self._cached_read(row) if kind == _K.CACHED_READ else self._cached_write(row)
        bytes_ = row.first, row.end
        dma = cache = MISS
        if kind == _K.UNCACHED_READ:
            dma = _look_up(self._writing, bytes_)
            if not self._params.uncached_snoops_cache:
                cache = self._dirty_bytes.look_up(*bytes_)
        elif kind == _K.UNCACHED_WRITE:
            dma, cache = self._uncached_write(row)
        elif kind == _K.DMA_READ:
            dma = _look_up(self._others(self._writing, row), bytes_)
            cache = self._dirty_bytes.look_up(*bytes_)
            self._reading[row.engine].insert(Entry(*bytes_, row.tag))
        elif kind == _K.DMA_WRITE:
            dma, cache = self._write_by_dma(row)
            self._make_stale(row)
        else:
            cache = self._maintain(kind, self._widened(row, self._params.line_bytes))
        return dma, cache

    def _cached_read(self, row: Row) -> tuple[Hit, Hit]:
        bytes_ = row.first, row.end
        hits = _look_up(self._writing, bytes_), self._cams["stale"].look_up(*bytes_)
        self._fill(row)
        return hits

    def _cached_write(self, row: Row) -> tuple[Hit, Hit]:
        bytes_, stale = (row.first, row.end), self._cams["stale"]
        first, end = granules = self._widened(row, self._write_unit)
        # Entries of reads come first: the hardware looks up those of writes only if they are in the
        # line.
        dma = _first_of([_look_up(self._reading, bytes_), _look_up(self._writing, granules)])
        sides = [side for side in ((first, row.first), (row.end, end)) if side[0] < side[1]]
        cache = _first_of([stale.look_up(*side) for side in sides])
        stale.remove(*bytes_)
        self._fill(row)
        self._make_dirty(row, granules)
        return dma, cache

    def _uncached_write(self, row: Row) -> tuple[Hit, Hit]:
        bytes_ = row.first, row.end
        dma, cache = _look_up([*self._writing, *self._reading], bytes_), MISS
        if self._params.uncached_snoops_cache:
            self._cams["stale"].remove(*bytes_)
            self._dirty_bytes.remove(*bytes_)
        else:
            cache = self._dirty.look_up(*bytes_)
            self._make_stale(row)
        return dma, cache

    def _maintain(self, kind: OperationKind, lines: _Range) -> Hit:
        """Flush, clean or invalidate lines."""
        cache = MISS
        if kind in _INVALIDATE:
            cache = self._dirty_bytes.look_up(*lines)
        self._dirty.remove(*lines)
        self._dirty_bytes.remove(*lines)
        if kind not in _CLEAN:
            self._cams["stale"].remove(*lines)
            if self._params.prefetch:
                # The cache may refill the line at once.
                self._copy_writing(lines)
            else:
                self._cams["valid"].remove(*lines)
        return cache

    def _fill(self, row: Row) -> None:
        """Let the cache fill the lines of a row."""
        lines = self._widened(row, self._params.line_bytes)
        if not self._params.prefetch:
            self._cams["valid"].insert(Entry(*lines, 0))
        self._copy_writing(lines)

    def _copy_writing(self, lines: _Range) -> None:
        """Mark bytes stale that a line may take from memory before an engine writes them."""
        self._copy(self._writing, lines, None)

    def _make_stale(self, row: Row) -> None:
        """Mark bytes stale that change in memory behind the cache."""
        if self._params.prefetch:
            self._cams["stale"].insert(Entry(row.first, row.end, row.tag))
        else:
            self._copy([self._cams["valid"]], (row.first, row.end), row.tag)

    def _copy(self, sets: list[IntervalCam], bytes_: _Range, tag: int | None) -> None:
        """Copy bytes of the sets in a range to ``stale``, with another tag if one is given."""
        first, end = bytes_
        for one in sets:
            for slot in one.overlapping(*bytes_):
                entry = one.slots[slot]
                assert entry is not None
                if tag is not None:
                    entry = entry._replace(tag=tag, others=0)
                cut = entry._replace(first=max(entry.first, first), end=min(entry.end, end))
                self._cams["stale"].insert(cut)


def _look_up(sets: Iterable[IntervalCam], bytes_: _Range) -> Hit:
    return _first_of([one.look_up(*bytes_) for one in sets])


def _first_of(hits: list[Hit]) -> Hit:
    """The first definite hit, else the first."""
    found = [hit for hit in hits if hit.found]
    return max(found, key=lambda hit: hit.definite) if found else MISS
