// Re-execution and Analysis of logged conflicts over the recorded program, as Rollback,
// AnalysisPass, Reexecution, hits and races_of of racetrap.golden_model.sigrace.
#ifndef ROLLBACK_H
#define ROLLBACK_H

#include <compare>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "epoch_index.h"
#include "rdm.h"

// The last checkpoint, and the TS log since then, as Checkpoint of racetrap.golden_model.sigrace.
struct Checkpoint {
    std::vector<int64_t> committed, progress;
    std::vector<std::vector<uint32_t>> stamps;  // TS log: a timestamp for each synchronisation
    uint64_t earlier = 0;                       // instructions committed before it

    explicit Checkpoint(size_t threads)
        : committed(threads), progress(threads, -1), stamps(threads) {}

    uint64_t total() const {
        uint64_t sum = earlier;
        for (int64_t each : committed) sum += each;
        return sum;
    }
};

// Different races; doubles are dropped whenever there may be as many as others.
class Races {
public:
    void add(const Race &race) {
        races_.push_back(race);
        if (races_.size() > limit_) {
            sorted();
            limit_ = std::max(limit_, 2 * races_.size());
        }
    }

    const std::vector<Race> &sorted() {
        std::sort(races_.begin(), races_.end());
        races_.erase(std::unique(races_.begin(), races_.end()), races_.end());
        return races_;
    }

private:
    std::vector<Race> races_;
    size_t limit_ = 1 << 12;
};

class Rollback {
public:
    Costs costs = {};
    std::vector<RollbackCount> rollbacks;  // by reason, in order of the first
    Races races, false_sharing;

    Rollback(const Settings &settings, const SignatureHash &hash, const Event *events,
             uint64_t count)
        : settings_(&settings), hash_(&hash), events_(events), count_(count) {}

    // What a pass has analysed of two epochs: what both threads have trapped on.
    struct Analysed {
        uint32_t thread, epoch, other, other_epoch;
        Words signature;
    };

    // Analyses new conflicts, at least one.
    std::vector<Analysed> handle(const std::vector<const LogEntry *> &entries, uint32_t reason,
                const Checkpoint &checkpoint) {
        if (!index_) index_ = std::make_unique<EpochIndex>(events_, count_, settings_->threads);
        add(reason);
        uint64_t before = repeated();
        bool is_found = false;
        std::vector<Analysed> analysed;
        for (const Pass &pass : plan(entries)) {
            is_found |= run(pass, checkpoint);
            add(pass, analysed);
        }
        if (!is_found) {
            costs.repeated_for_nothing += repeated() - before;
        } else if (!costs.has_race) {
            costs.has_race = 1;
            costs.first_committed = checkpoint.total();
            costs.first_repeated = repeated();
            costs.first_repeated_for_nothing = costs.repeated_for_nothing;
        }
        return analysed;
    }

private:
    static constexpr size_t REMEMBERED = 1 << 22;  // granules, in all
    static constexpr uint64_t LONG = 256;          // events of an epoch whose granules are

    // A conflicting thread: where it stops, and its Conflict Signature.
    struct Stop {
        uint32_t thread;
        const Clock *timestamp;
        Words signature;
        uint64_t first = 0, last = 0;   // positions of the epoch
        std::vector<uint64_t> members = {};  // granules of the epoch in the signature
        uint32_t epoch() const { return (*timestamp)[thread]; }
    };

    // Conflicts that are analysed together.
    struct Pass {
        std::vector<Stop> stops;
        std::vector<const LogEntry *> entries;

        bool add(const LogEntry &entry) {
            if (!fits(entry.thread, entry.timestamp) || !fits(entry.other, entry.other_timestamp))
                return false;
            stop(entry.thread, entry.timestamp, entry.signature);
            stop(entry.other, entry.other_timestamp, entry.signature);
            entries.push_back(&entry);
            return true;
        }

    private:
        bool fits(uint32_t thread, const Clock &timestamp) const {
            for (const Stop &each : stops)
                if (each.thread == thread) return *each.timestamp == timestamp;
            for (const Stop &each : stops)
                if (order(*each.timestamp, each.thread, timestamp, thread) != UNORDERED)
                    return false;
            return true;
        }

        void stop(uint32_t thread, const Clock &timestamp, const Words &signature) {
            auto each = std::find_if(stops.begin(), stops.end(),
                                     [&](const Stop &one) { return one.thread == thread; });
            if (each == stops.end()) {
                stops.push_back({thread, &timestamp, signature});
                return;
            }
            for (size_t word = 0; word < signature.size(); word++)
                each->signature[word] |= signature[word];
        }
    };

    // A trap record, completed by what the trap's handler sees.
    struct Hit {
        uint64_t granule, life;
        Party party;
        uint32_t used;  // a bit for each byte of the granule
        auto operator<=>(const Hit &other) const = default;
    };

    // Threads and granule of a race, or of accesses to different bytes.
    using Place = std::tuple<uint32_t, uint32_t, uint64_t>;

    const Settings *settings_;
    const SignatureHash *hash_;
    const Event *events_;
    uint64_t count_;
    std::unique_ptr<EpochIndex> index_;
    std::map<std::tuple<uint32_t, uint64_t, uint64_t>, std::vector<uint64_t>> granules_;
    std::vector<uint64_t> short_;  // those of an epoch that are not
    size_t remembered_ = 0;

    uint64_t repeated() const { return costs.reexecuted + costs.analysed; }

    void add(uint32_t reason) {
        for (auto &[known, number] : rollbacks)
            if (known == reason) {
                number++;
                return;
            }
        rollbacks.push_back({reason, 1});
    }

    static void add(const Pass &pass, std::vector<Analysed> &analysed) {
        for (auto one = pass.stops.begin(); one != pass.stops.end(); ++one)
            for (auto other = one + 1; other != pass.stops.end(); ++other) {
                Words both = one->signature;
                for (size_t word = 0; word < both.size(); word++)
                    both[word] &= other->signature[word];
                analysed.push_back({one->thread, one->epoch(), other->thread, other->epoch(), both});
            }
    }

    // Puts each conflict into the first pass that takes it.
    static std::vector<Pass> plan(const std::vector<const LogEntry *> &entries) {
        std::vector<Pass> passes;
        for (const LogEntry *entry : entries) {
            auto takes = [&](Pass &pass) { return pass.add(*entry); };
            if (std::none_of(passes.begin(), passes.end(), takes))
                passes.emplace_back().add(*entry);
        }
        return passes;
    }

    // Executes again, and analyses; whether there are races.
    bool run(Pass pass, const Checkpoint &checkpoint) {
        costs.passes++;
        reexecute(pass, checkpoint);
        std::vector<uint64_t> shared;
        for (Stop &stop : pass.stops) {
            uint64_t begin = index_->position(stop.thread, checkpoint.progress[stop.thread]);
            stop.first = std::max(index_->start(stop.thread, stop.epoch()), begin);
            stop.last = index_->start(stop.thread, stop.epoch() + 1ull);
            stop.members = hash_->members(stop.signature, granules(stop));
            costs.analysed += index_->instructions(stop.thread, stop.first, stop.last);
            shared.insert(shared.end(), stop.members.begin(), stop.members.end());
        }
        keep_doubles(shared);
        std::vector<Hit> hits;
        for (const Stop &stop : pass.stops) analyse(stop, shared, hits);
        std::vector<Place> places;
        bool is_found = find_races(hits, places);
        for (const LogEntry *entry : pass.entries)
            if (!explains(places, *entry)) costs.false_positives++;
        return is_found;
    }

    // Counts the instructions of all threads up to their stops.
    void reexecute(const Pass &pass, const Checkpoint &checkpoint) {
        for (uint32_t thread = 0; thread < settings_->threads; thread++) {
            const std::vector<uint32_t> &log = checkpoint.stamps[thread];
            uint64_t width = settings_->threads, length = log.size() / width;
            for (const Stop &stop : pass.stops) length = known(log, width, length, stop);
            if (!length) continue;
            uint64_t end = index_->start(thread, log[(length - 1) * width + thread]);
            uint64_t begin = index_->position(thread, checkpoint.progress[thread]);
            costs.reexecuted += index_->instructions(thread, begin, end);
        }
    }

    // Of the first timestamps of a log, those that hold no epoch behind the stop.
    static uint64_t known(const std::vector<uint32_t> &log, uint64_t width, uint64_t length,
                          const Stop &stop) {
        uint64_t low = 0;
        while (low < length) {
            uint64_t middle = (low + length) / 2;
            if (stop.epoch() < log[middle * width + stop.thread]) length = middle;
            else low = middle + 1;
        }
        return low;
    }

    // Granules of a stop's epoch, ascending; a long epoch is often requested again.
    const std::vector<uint64_t> &granules(const Stop &stop) {
        if (stop.last - stop.first < LONG)
            return short_ = index_->granules(stop.thread, stop.first, stop.last);
        auto [known, is_new] = granules_.try_emplace({stop.thread, stop.first, stop.last});
        if (!is_new) return known->second;
        std::vector<uint64_t> found = index_->granules(stop.thread, stop.first, stop.last);
        if (remembered_ + found.size() > REMEMBERED) {
            granules_.clear();
            remembered_ = 0;
        }
        remembered_ += found.size();
        return granules_[{stop.thread, stop.first, stop.last}] = std::move(found);
    }

    // Keeps one of those that occur several times, ascending.
    static void keep_doubles(std::vector<uint64_t> &granules) {
        std::sort(granules.begin(), granules.end());
        size_t kept = 0;
        for (size_t at = 1; at < granules.size(); at++) {
            bool is_known = kept && granules[kept - 1] == granules[at];
            if (granules[at] == granules[at - 1] && !is_known) granules[kept++] = granules[at];
        }
        granules.resize(kept);
    }

    // Trap records of a conflicting thread, which runs to its next synchronisation.  Of its
    // accesses those are enough that hit what another conflicting thread hits, too.
    void analyse(const Stop &stop, const std::vector<uint64_t> &shared, std::vector<Hit> &hits) {
        std::vector<uint64_t> common;
        std::set_intersection(stop.members.begin(), stop.members.end(), shared.begin(),
                              shared.end(), std::back_inserter(common));
        if (common.empty()) return;
        for (uint32_t number : index_->accesses(stop.thread, stop.first, stop.last, common)) {
            const Event &event = events_[number];
            Party party = {stop.thread, stop.epoch(), event.pc, event.kind == STORE};
            uint64_t end = event.address + event.size, last = (end - 1) >> GRANULE_LOG2;
            for (uint64_t each = event.address >> GRANULE_LOG2; each <= last; each++) {
                uint64_t granule = each << GRANULE_LOG2;
                if (!hash_->has(stop.signature, granule)) continue;
                uint64_t life = index_->allocations.count(granule, number);
                hits.push_back({granule, life, party, bytes_used(granule, event.address, end)});
            }
        }
    }

    // Pairs of hits of different threads, and their places; whether one is a race.
    bool find_races(std::vector<Hit> &hits, std::vector<Place> &places) {
        std::sort(hits.begin(), hits.end());
        hits.erase(std::unique(hits.begin(), hits.end()), hits.end());
        bool is_found = false;
        for (size_t one = 0; one < hits.size(); one++)
            for (size_t other = one + 1; other < hits.size(); other++) {
                const Hit &first = hits[one], &second = hits[other];
                if (first.granule != second.granule || first.life != second.life) break;
                const Party &low = first.party, &high = second.party;
                if (low.thread == high.thread || !(low.is_write || high.is_write)) continue;
                bool is_race = first.used & second.used;
                (is_race ? races : false_sharing).add({first.granule, low, high});
                is_found |= is_race;
                Place place = {low.thread, high.thread, first.granule};
                if (places.empty() || places.back() != place) places.push_back(place);
            }
        return is_found;
    }

    // Whether one of the places is one of the entry's conflict.
    bool explains(const std::vector<Place> &places, const LogEntry &entry) const {
        auto [low, high] = std::minmax(entry.thread, entry.other);
        return std::any_of(places.begin(), places.end(), [&](const Place &place) {
            const auto &[first, second, granule] = place;
            return first == low && second == high && hash_->has(entry.signature, granule);
        });
    }
};

#endif
