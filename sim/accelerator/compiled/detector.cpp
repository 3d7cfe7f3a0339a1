#include "detector.h"

namespace {

constexpr uint64_t PLACE = 1ull << 63;  // of the program; else a place is an operation's number

// The aligned blocks that ranges touch.
void widen(const Ranges &ranges, uint64_t unit, Ranges &wide) {
    wide.clear();
    for (auto [first, last] : ranges) {
        first &= -unit;
        last |= unit - 1;
        if (!wide.empty() && first <= wide.back().second + 1) wide.back().second = last;
        else wide.emplace_back(first, last);
    }
}

}  // namespace

void RaceTable::add(Rule rule, const Origin &later, const Origin &earlier, uint64_t first,
                    uint64_t last, Overlap overlap) {
    auto [at, is_new] = numbers_.try_emplace({rule, later.place, earlier.place}, races_.size());
    if (is_new) {
        if (races_.empty()) first_ = later.number;
        races_.push_back({later.number, earlier.number, first, last, 1, rule, overlap, 0, {}});
        latest_.emplace_back(later.number, later.place);
        return;
    }
    Race &race = races_[at->second];
    if (overlap == BYTES && race.overlap != BYTES) {
        race.later = later.number;
        race.earlier = earlier.number;
        race.first = first;
        race.last = last;
        race.overlap = overlap;
    }
    race.instances += latest_[at->second].first != later.number;
    latest_[at->second].first = later.number;
}

const std::vector<Race> &RaceTable::close(const std::unordered_set<uint64_t> &missed) {
    for (size_t at = 0; at < races_.size(); at++)
        races_[at].is_overwritten =
            races_[at].rule == LOST_DATA && !missed.count(latest_[at].second);
    return races_;
}

void Detector::look_up(const Record &record) {
    uint64_t program = PLACE | uint64_t(record.kind) << 40 | uint64_t(record.engine) << 32;
    access_.origin = {number_, record.pc ? program | record.pc : number_};
    access_.engine = record.engine;
    access_.bytes.clear();
    uint64_t start = record.address, size = record.size;
    if (!size) access_.bytes.emplace_back(0, ~0ull);
    else if (!record.rows || record.stride == size)
        access_.bytes.emplace_back(start, start + size * std::max<uint64_t>(record.rows, 1) - 1);
    else
        for (unsigned row = 0; row < record.rows; row++, start += record.stride)
            access_.bytes.emplace_back(start, start + size - 1);
    widen(access_.bytes, memory_.write_unit, access_.granules);
    if (memory_.line == memory_.write_unit) access_.lines = access_.granules;
    else widen(access_.bytes, memory_.line, access_.lines);
}

void Detector::step(const Record &record) {
    look_up(record);
    switch (record.kind) {
    case CACHED_READ: return cached_read(access_);
    case CACHED_WRITE: return cached_write(access_);
    case UNCACHED_READ: return uncached_read(access_);
    case UNCACHED_WRITE: return uncached_write(access_);
    case DMA_READ: return dma_read(access_);
    case DMA_WRITE: return dma_write(access_);
    case SYNC:
        reading_[record.engine].clear();
        writing_[record.engine].clear();
        return;
    case SYNC_ALL:
        for (auto *sets : {&reading_, &writing_})
            for (IntervalSet &set : *sets) set.clear();
        return;
    case CACHE_FLUSH:
    case FLUSH_ALL: return flush(access_);
    case CACHE_CLEAN:
    case CLEAN_ALL: return clean(access_);
    case CACHE_INVALIDATE:
    case INVALIDATE_ALL: return invalidate(access_);
    }
}

void Detector::run(const Record *records, uint64_t count) {
    constexpr uint64_t LOOKED_AT = 1 << 12;
    for (uint64_t at = 0; at < count; at++, number_++) {
        step(records[at]);
        if (number_ % LOOKED_AT == 0) most_runs_ = std::max(most_runs_, runs());
    }
    most_runs_ = std::max(most_runs_, runs());
}

std::vector<const IntervalSet *> Detector::sets() const {
    std::vector<const IntervalSet *> all{&dirty_granules_, &dirty_bytes_};
    for (auto *sets : {&reading_, &writing_})
        for (const IntervalSet &set : *sets) all.push_back(&set);
    return all;
}

uint64_t Detector::runs() const {
    uint64_t count = 0;
    for (auto *set : sets()) count += set->size();
    return count;
}

uint64_t Detector::held(uint64_t *masks) const {
    auto all = sets();
    for (auto *set : all) {
        *masks = 0;
        set->overlaps(0, 63, [&](const Run &run) {
            *masks |= ~0ull >> (63 - run.last + run.first) << run.first;
        });
        masks++;
    }
    return all.size();
}

void Detector::clean(const Access &access) {
    for (auto [first, last] : access.lines) {
        dirty_granules_.remove(first, last);
        dirty_bytes_.remove(first, last);
    }
}

void Detector::make_dirty(const Access &access) {
    if (memory_.write_through) return;
    for (auto [first, last] : access.granules) dirty_granules_.add(first, last, access.origin);
    for (auto [first, last] : access.bytes) dirty_bytes_.add(first, last, access.origin);
}

void Detector::with_bytes(Rule rule, const IntervalSet &set, const Access &access,
                          const Ranges &bytes, Overlap overlap) {
    if (set.empty()) return;
    for (auto [first, last] : bytes)
        set.overlaps(first, last, [&](const Run &run) { report(rule, access, run, overlap); });
}

void Detector::with_blocks(Rule rule, const IntervalSet &set, const Access &access,
                           Overlap overlap) {
    if (set.empty()) return;
    for (auto [first, last] : overlap == LINE ? access.lines : access.granules)
        set.overlaps(first, last, [&](const Run &run) {
            for (auto [low, high] : access.bytes)
                if (low <= run.last && high >= run.first) {
                    Run part{std::max(low, run.first), std::min(high, run.last), run.origin};
                    return report(rule, access, part, BYTES);
                }
            report(rule, access, run, overlap);
        });
}

void Detector::with_dirty(Rule rule, const Access &access) {
    if (dirty_granules_.empty()) return;
    for (auto [first, last] : access.bytes)
        dirty_granules_.overlaps(first, last, [&](const Run &run) {
            if (dirty_bytes_.meets(run.first, run.last))
                with_bytes(rule, dirty_bytes_, access, {{run.first, run.last}});
            else report(rule, access, run, GRANULE);
        });
}

void Detector::with_other_engines(const std::vector<IntervalSet> &sets, const Access &access) {
    for (size_t engine = 0; engine < sets.size(); engine++)
        if (engine != access.engine) with_bytes(TWO_ENGINES, sets[engine], access);
}
