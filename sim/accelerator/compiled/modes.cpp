// The two modes, and what Python calls.
#include "detector.h"

namespace {

// Parts of ranges that are not in others.
Ranges difference(const Ranges &ranges, const Ranges &taken) {
    Ranges left;
    for (auto [first, last] : ranges) {
        bool is_left = true;
        for (auto [low, high] : taken) {
            if (low > last || high < first) continue;
            if (first < low) left.emplace_back(first, low - 1);
            if (high >= last) {
                is_left = false;
                break;
            }
            first = high + 1;
        }
        if (is_left) left.emplace_back(first, last);
    }
    return left;
}

// The rules of the thesis' Section 3.3 as three interval sets: what may still be written back, what
// engines read, and what they write.
//
// No search for paths is needed: a write-back that may still come has no successor, DMA since the
// last sync is before that sync and later DMA only, and nothing that comes later is before an
// earlier node.  So overlap alone decides.  Rule 6c never fires: a line that was filled for an
// earlier read is ordered before a later DMA write by program order.  Rules 3f to 3i change no
// verdict.
class Thesis final : public Detector {
public:
    using Detector::Detector;

private:
    void cached_read(const Access &access) override {
        with_blocks(CACHED_READ_DMA, writing_, access, LINE);
    }

    void cached_write(const Access &access) override {
        with_blocks(CACHED_WRITE_DMA, writing_, access, GRANULE);
        with_blocks(CACHED_WRITE_DMA, reading_, access, GRANULE);
        make_dirty(access);
    }

    void uncached_read(const Access &access) override {
        with_dirty(UNCACHED_READ_DIRTY, access);
        with_bytes(UNCACHED_READ_DMA, writing_, access);
    }

    void uncached_write(const Access &access) override {
        with_dirty(UNCACHED_WRITE_DIRTY, access);
        with_bytes(UNCACHED_WRITE_DMA, writing_, access);
        with_bytes(UNCACHED_WRITE_DMA, reading_, access);
    }

    void dma_read(const Access &access) override {
        with_dirty(DMA_READ_DIRTY, access);
        with_other_engines(writing_, access);
        issue(reading_, access);
    }

    void dma_write(const Access &access) override {
        with_dirty(DMA_WRITE_DIRTY, access);
        with_other_engines(writing_, access);
        with_other_engines(reading_, access);
        issue(writing_, access);
    }

    void flush(const Access &access) override { clean(access); }
    void invalidate(const Access &access) override { clean(access); }
};

// The races of the machine (golden_model/noncoherent/machine.py), byte by byte, and no others.
//
// Sets beside those of the thesis: lines that may be valid; stale bytes, of which the cache may hold
// an older value than memory has or gets; and bytes that an invalidation may have dropped and nobody
// has overwritten since, with the invalidation as their origin.
class Strict final : public Detector {
public:
    using Detector::Detector;

private:
    void cached_read(const Access &access) override {
        with_bytes(CACHED_READ_DMA, writing_, access);
        with_bytes(STALE_READ, stale_, access);
        use(access);
        fill(access);
    }

    void cached_write(const Access &access) override {
        with_blocks(CACHED_WRITE_DMA, writing_, access, GRANULE);
        with_bytes(CACHED_WRITE_DMA, reading_, access);
        if (!stale_.empty())
            with_bytes(STALE_WRITE_BACK, stale_, access, difference(access.granules, access.bytes),
                       GRANULE);
        overwrite(access);
        for (auto [first, last] : access.bytes) stale_.remove(first, last);
        fill(access);
        make_dirty(access);
    }

    void uncached_read(const Access &access) override {
        with_bytes(UNCACHED_READ_DMA, writing_, access);
        if (!memory_.uncached_snoops_cache) with_bytes(UNCACHED_READ_DIRTY, dirty_bytes_, access);
        use(access);
    }

    void uncached_write(const Access &access) override {
        with_bytes(UNCACHED_WRITE_DMA, writing_, access);
        with_bytes(UNCACHED_WRITE_DMA, reading_, access);
        if (memory_.uncached_snoops_cache) {
            for (auto [first, last] : access.bytes) {
                stale_.remove(first, last);
                dirty_bytes_.remove(first, last);
            }
        } else {
            with_dirty(UNCACHED_WRITE_DIRTY, access);
            make_stale(access);
        }
        overwrite(access);
    }

    void dma_read(const Access &access) override {
        with_bytes(DMA_READ_DIRTY, dirty_bytes_, access);
        with_other_engines(writing_, access);
        use(access);
        issue(reading_, access);
    }

    void dma_write(const Access &access) override {
        with_dirty(DMA_WRITE_DIRTY, access);
        with_other_engines(writing_, access);
        with_other_engines(reading_, access);
        overwrite(access);
        issue(writing_, access);
        make_stale(access);
    }

    void flush(const Access &access) override {
        for (auto [first, last] : access.lines) {
            stale_.remove(first, last);
            if (memory_.prefetch) add_writing(first, last);
            else valid_.remove(first, last);
        }
        clean(access);
    }

    void invalidate(const Access &access) override {
        with_blocks(LOST_DATA, dirty_bytes_, access, LINE);
        for (auto [first, last] : access.lines)
            dirty_bytes_.overlaps(first, last, [&](const Run &run) {
                lost_.add(run.first, run.last, access.origin);
            });
        flush(access);
    }

    std::vector<const IntervalSet *> sets() const override {
        auto all = Detector::sets();
        all.insert(all.end(), {&valid_, &stale_});
        return all;
    }

    uint64_t runs() const override { return Detector::runs() + lost_.size(); }

    std::unordered_set<uint64_t> missed_places() const override {
        auto places = missed_;
        lost_.overlaps(0, ~0ull, [&](const Run &run) { places.insert(run.origin.place); });
        return places;
    }

    void fill(const Access &access) {
        for (auto [first, last] : access.lines) {
            if (!memory_.prefetch) valid_.add(first, last, {0, 0});
            add_writing(first, last);
        }
    }

    void add_writing(uint64_t first, uint64_t last) {
        for (const IntervalSet &writing : writing_)
            writing.overlaps(first, last, [&](const Run &run) {
                stale_.add(run.first, run.last, run.origin);
            });
    }

    void make_stale(const Access &access) {
        for (auto [first, last] : access.bytes) {
            if (memory_.prefetch) stale_.add(first, last, access.origin);
            else
                valid_.overlaps(first, last, [&](const Run &run) {
                    stale_.add(run.first, run.last, access.origin);
                });
        }
    }

    void use(const Access &access) {
        if (lost_.empty()) return;
        for (auto [first, last] : access.bytes)
            lost_.overlaps(first, last,
                           [&](const Run &run) { missed_.insert(run.origin.place); });
    }

    void overwrite(const Access &access) {
        if (lost_.empty()) return;
        for (auto [first, last] : access.bytes) lost_.remove(first, last);
    }

    IntervalSet valid_, stale_, lost_;
    std::unordered_set<uint64_t> missed_;
};

}  // namespace

extern "C" {

Detector *detector_new(int is_strict, const uint64_t *line_and_write_unit, unsigned engines,
                       int prefetch, int uncached_snoops_cache, int write_through) {
    Memory memory{line_and_write_unit[0], line_and_write_unit[1], engines, prefetch != 0,
                  uncached_snoops_cache != 0, write_through != 0};
    if (is_strict) return new Strict(memory);
    return new Thesis(memory);
}

void detector_run(Detector *detector, const Record *records, uint64_t count) {
    detector->run(records, count);
}

uint64_t detector_close(Detector *detector, const Race **races) {
    const auto &found = detector->close();
    *races = found.data();
    return found.size();
}

uint64_t detector_first(const Detector *detector) { return detector->first(); }

uint64_t detector_held(const Detector *detector, uint64_t *masks) { return detector->held(masks); }

uint64_t detector_most_runs(const Detector *detector) { return detector->most_runs(); }

void detector_delete(Detector *detector) { delete detector; }
}
