// Interval set: disjoint runs of bytes with their origins, sorted in chunks of bounded size.
//
// Neighbouring runs from the same place of the program are one run: the set is as large as what it
// describes, not as the number of operations.  A search looks at the chunks' last bytes, then into
// one chunk, so that millions of runs cost little more than a few.
#ifndef INTERVAL_SET_H
#define INTERVAL_SET_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

// Operation that put bytes into a set; operations of one place of the program have one `place`.
struct Origin {
    uint64_t number, place;
};

struct Run {
    uint64_t first, last;
    Origin origin;
};

class IntervalSet {
public:
    // Calls `visit` with every run that meets the bytes, cut to them, ascending.
    template <typename Visit>
    void overlaps(uint64_t first, uint64_t last, Visit visit) const {
        for (Position at = find(first); is_run(at) && run(at).first <= last; at = next(at)) {
            const Run &met = run(at);
            visit(Run{std::max(met.first, first), std::min(met.last, last), met.origin});
        }
    }

    bool meets(uint64_t first, uint64_t last) const {
        if (lasts_.empty()) return false;
        Position at = find(first);
        return is_run(at) && run(at).first <= last;
    }

    void remove(uint64_t first, uint64_t last) {
        if (!lasts_.empty()) remove_from(find(first), first, last);
    }

    void add(uint64_t first, uint64_t last, Origin origin) {
        Position at = find(first);
        if (is_run(at) && run(at).first <= first && run(at).last >= last &&
            run(at).origin.place == origin.place) {
            Origin &kept = run(at).origin;
            kept.number = std::max(kept.number, origin.number);
            return;
        }
        if (is_run(at) && run(at).first <= last) {
            remove_from(at, first, last);
            at = find(first);
        }
        bool joins_next = is_run(at) && run(at).first == last + 1 &&
                          run(at).origin.place == origin.place;
        Position before = previous(at);
        bool joins_before = is_run(before) && run(before).last + 1 == first &&
                            run(before).origin.place == origin.place;
        if (joins_before) {
            Run &grown = run(before);
            grown.origin.number = std::max(grown.origin.number, origin.number);
            grown.last = last;
            if (joins_next) {
                grown.last = run(at).last;
                grown.origin.number = std::max(grown.origin.number, run(at).origin.number);
                erase(at, at.index + 1);
            }
            set_last(before.chunk);
        } else if (joins_next) {
            Run &grown = run(at);
            grown.first = first;
            grown.origin.number = std::max(grown.origin.number, origin.number);
        } else {
            insert(at, Run{first, last, origin});
        }
    }

    void clear() {
        chunks_.clear();
        lasts_.clear();
        size_ = 0;
    }

    bool empty() const { return size_ == 0; }
    uint64_t size() const { return size_; }

private:
    static constexpr unsigned CAPACITY = 64;
    struct Chunk {
        unsigned count = 0;
        Run runs[CAPACITY];
    };
    struct Position {
        size_t chunk;
        unsigned index;
    };

    bool is_run(Position at) const { return at.chunk < chunks_.size(); }
    Run &run(Position at) { return chunks_[at.chunk]->runs[at.index]; }
    const Run &run(Position at) const { return chunks_[at.chunk]->runs[at.index]; }

    // The first run that ends at `byte` or later.
    Position find(uint64_t byte) const {
        size_t chunk = latest_;
        if (chunk >= lasts_.size() || lasts_[chunk] < byte ||
            (chunk > 0 && lasts_[chunk - 1] >= byte))
            chunk = std::lower_bound(lasts_.begin(), lasts_.end(), byte) - lasts_.begin();
        if (chunk == lasts_.size()) return {chunk, 0};
        latest_ = chunk;
        const Run *runs = chunks_[chunk]->runs;
        unsigned low = 0, high = chunks_[chunk]->count - 1;
        // Operations often continue where the latest one ended.
        if (latest_index_ < high && runs[latest_index_].last < byte) {
            low = latest_index_ + 1;
            if (runs[low].last >= byte) high = low;
        }
        while (low < high) {
            unsigned middle = (low + high) / 2;
            if (runs[middle].last < byte) low = middle + 1;
            else high = middle;
        }
        latest_index_ = low;
        return {chunk, low};
    }

    Position next(Position at) const {
        return at.index + 1 < chunks_[at.chunk]->count ? Position{at.chunk, at.index + 1}
                                                        : Position{at.chunk + 1, 0};
    }

    // The run before, or none: a position past the last chunk.
    Position previous(Position at) const {
        if (at.index) return {at.chunk, at.index - 1};
        if (!at.chunk) return {chunks_.size(), 0};
        return {at.chunk - 1, chunks_[at.chunk - 1]->count - 1};
    }

    void set_last(size_t chunk) {
        lasts_[chunk] = chunks_[chunk]->runs[chunks_[chunk]->count - 1].last;
    }

    // Takes runs out of one chunk, from `at` up to index `end`.
    void erase(Position at, unsigned end) {
        Chunk &chunk = *chunks_[at.chunk];
        std::memmove(chunk.runs + at.index, chunk.runs + end, (chunk.count - end) * sizeof(Run));
        chunk.count -= end - at.index;
        size_ -= end - at.index;
        if (chunk.count) {
            set_last(at.chunk);
        } else {
            chunks_.erase(chunks_.begin() + at.chunk);
            lasts_.erase(lasts_.begin() + at.chunk);
        }
    }

    // Puts a run before position `at`.
    void insert(Position at, const Run &added) {
        if (chunks_.empty()) {
            chunks_.push_back(std::make_unique<Chunk>());
            lasts_.push_back(0);
            at = {0, 0};
        } else if (at.chunk == chunks_.size()) {
            at = {at.chunk - 1, chunks_[at.chunk - 1]->count};
        }
        if (chunks_[at.chunk]->count == CAPACITY) at = split(at);
        Chunk &chunk = *chunks_[at.chunk];
        std::memmove(chunk.runs + at.index + 1, chunk.runs + at.index,
                     (chunk.count - at.index) * sizeof(Run));
        chunk.runs[at.index] = added;
        chunk.count++;
        size_++;
        set_last(at.chunk);
    }

    // Divides a full chunk; the same place in one of the two.
    Position split(Position at) {
        // Runs that are added in ascending order fill their chunks.
        unsigned kept = at.index == CAPACITY ? CAPACITY - 1 : CAPACITY / 2;
        auto upper = std::make_unique<Chunk>();
        Chunk &lower = *chunks_[at.chunk];
        upper->count = CAPACITY - kept;
        std::memcpy(upper->runs, lower.runs + kept, upper->count * sizeof(Run));
        lower.count = kept;
        chunks_.insert(chunks_.begin() + at.chunk + 1, std::move(upper));
        lasts_.insert(lasts_.begin() + at.chunk + 1, 0);
        set_last(at.chunk);
        set_last(at.chunk + 1);
        if (at.index <= kept) return at;
        return {at.chunk + 1, at.index - kept};
    }

    void remove_from(Position at, uint64_t first, uint64_t last) {
        if (!is_run(at) || run(at).first > last) return;
        Run &begin = run(at);
        if (begin.first < first) {
            uint64_t end = begin.last;
            Origin origin = begin.origin;
            begin.last = first - 1;
            if (at.index + 1 == chunks_[at.chunk]->count) set_last(at.chunk);
            if (end > last) {
                insert(next(at), Run{last + 1, end, origin});
                return;
            }
            at = next(at);
        }
        while (is_run(at)) {
            Chunk &chunk = *chunks_[at.chunk];
            unsigned end = at.index;
            while (end < chunk.count && chunk.runs[end].last <= last) end++;
            bool goes_on = end == chunk.count;
            if (!goes_on && chunk.runs[end].first <= last) chunk.runs[end].first = last + 1;
            size_t chunks = chunks_.size();
            if (end > at.index) erase(at, end);
            if (!goes_on) return;
            // What follows is at the start of the next chunk, which may have moved up.
            at = {at.chunk + (chunks == chunks_.size()), 0};
        }
    }

    std::vector<std::unique_ptr<Chunk>> chunks_;
    std::vector<uint64_t> lasts_;  // last byte of each chunk
    uint64_t size_ = 0;
    mutable size_t latest_ = 0;  // chunk of the latest search
    mutable unsigned latest_index_ = 0;  // and the index found in it
};

#endif
