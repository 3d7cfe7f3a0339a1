// Race Detection Module, as Rdm and ConflictLog of racetrap.golden_model.sigrace: block history
// queues, the search for unordered blocks that conflict, the log of conflicts.
#ifndef RDM_H
#define RDM_H

#include <deque>

#include "core_unit.h"

// As in racetrap.golden_model.sigrace.packets and conflict_log.
enum Conflict : uint32_t { READ_WRITE = 1, WRITE_READ = 2, WRITE_WRITE = 4 };
enum Reason : uint32_t { LOG_FULL = 1, BLOCKS = 2, SYNC_REACHED = 4 };

struct LogEntry {
    uint32_t thread, other, conflict;
    Clock timestamp, other_timestamp;
    Words signature;
};

class Rdm {
public:
    // In the order of _COUNTERS in compiled_sigrace.py.
    struct Counters {
        uint64_t messages, comparisons, intersections, hits, conflicts, log_dropped;
    };

    Counters counters = {};
    std::vector<uint64_t> lost;  // messages that found no predecessor in a full queue, by pair
    std::vector<LogEntry> log;
    uint32_t reasons = 0;

    Rdm(const Settings &settings, const SignatureHash &hash)
        : lost(settings.threads * settings.threads), settings_(&settings), hash_(&hash),
          queues_(settings.threads) {}

    void take(Summary &&summary) {
        counters.messages++;
        for (uint32_t other = 0; other < queues_.size(); other++)
            if (other != summary.thread) search(summary, other);
        pushed(summary);
        auto &queue = queues_[summary.thread];
        queue.push_front(std::move(summary));
        if (!settings_->is_unbounded && queue.size() > settings_->history_depth) queue.pop_back();
    }

    void flush() {
        for (auto &queue : queues_) queue.clear();
    }

    void clear_log() {
        log.clear();
        reasons = 0;
        first_ = blocks_ = -1;
    }

private:
    const Settings *settings_;
    const SignatureHash *hash_;
    std::vector<std::deque<Summary>> queues_;
    int64_t first_ = -1;   // thread whose message found the first conflict
    int64_t blocks_ = -1;  // its messages since then

    bool is_log_full() const {
        return !settings_->is_unbounded && log.size() == settings_->log_depth;
    }

    // Compares with a thread's blocks, newest first.
    void search(const Summary &summary, uint32_t other) {
        const auto &queue = queues_[other];
        uint32_t known = summary.timestamp[other], own = summary.timestamp[summary.thread];
        for (const Summary &entry : queue) {
            counters.comparisons++;
            if (entry.timestamp[other] < known) {
                counters.hits++;
                return;
            }
            if (own < entry.timestamp[summary.thread]) continue;  // it came late
            counters.intersections++;
            intersect(summary, other, entry);
        }
        if (!settings_->is_unbounded && queue.size() == settings_->history_depth)
            lost[summary.thread * settings_->threads + other]++;
    }

    void intersect(const Summary &summary, uint32_t other, const Summary &entry) {
        uint32_t conflict = 0;
        if (summary.reads && entry.writes && hash_->meet(summary.read, entry.write))
            conflict |= READ_WRITE;
        if (summary.writes && entry.reads && hash_->meet(summary.write, entry.read))
            conflict |= WRITE_READ;
        if (summary.writes && entry.writes && hash_->meet(summary.write, entry.write))
            conflict |= WRITE_WRITE;
        if (!conflict) return;
        counters.conflicts++;
        if (is_log_full()) {
            counters.log_dropped++;
            return;
        }
        Words signature(hash_->words());
        for (size_t word = 0; word < signature.size(); word++) {
            if (conflict & READ_WRITE) signature[word] |= summary.read[word] & entry.write[word];
            if (conflict & WRITE_READ) signature[word] |= summary.write[word] & entry.read[word];
            if (conflict & WRITE_WRITE) signature[word] |= summary.write[word] & entry.write[word];
        }
        log.push_back({summary.thread, other, conflict, summary.timestamp, entry.timestamp,
                       std::move(signature)});
        if (first_ < 0) first_ = summary.thread;
    }

    // A message goes into its queue: is a rollback due?
    void pushed(const Summary &summary) {
        if (is_log_full()) reasons |= LOG_FULL;
        if (summary.thread != first_) return;
        blocks_++;  // the message that found the conflict makes this 0
        if (blocks_ >= (int64_t)settings_->log_blocks) reasons |= BLOCKS;
        if (summary.cause == SYNC) reasons |= SYNC_REACHED;
    }
};

#endif
