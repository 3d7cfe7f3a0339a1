// Race Detection Module, as Rdm and ConflictLog of racetrap.golden_model.sigrace: block history
// queues, the search for unordered blocks that conflict, the log of conflicts.
#ifndef RDM_H
#define RDM_H

#include <deque>
#include <functional>

#include "measures.h"

// A block by the unit that has sent it, and its number among those of the unit.
struct BlockName {
    uint32_t unit, number;
    explicit BlockName(const Summary &summary) : unit(summary.unit), number(summary.sequence) {}
};

struct LogEntry {
    uint32_t thread, other, conflict;
    Clock timestamp, other_timestamp;
    Words signature;
    BlockName block, other_block;
};

// Of a block that is known and one of another thread that comes, as relation of
// racetrap.golden_model.sigrace.timestamp.
inline Relation order(const Clock &known, uint32_t thread, const Clock &coming, uint32_t other) {
    if (known[thread] < coming[thread]) return PRECEDES;
    return coming[other] < known[other] ? FOLLOWS : UNORDERED;
}

class Rdm {
public:
    std::vector<RdmStep> *steps = nullptr;  // where its steps go, if they are wanted
    Measures *measures = nullptr;           // likewise
    Counters counters = {};
    std::vector<uint64_t> lost;  // messages that found no predecessor in a full queue, by pair
    std::vector<LogEntry> log;
    uint32_t reasons = 0;
    std::function<void()> when_full;  // empties the log, for which the RDM waits; none: it does not

    Rdm(const Settings &settings, const SignatureHash &hash)
        : lost(settings.threads * settings.threads), settings_(&settings), hash_(&hash),
          queues_(settings.threads) {}

    void take(Summary &&summary) {
        counters.messages++;
        uint64_t lost_threads = 0;
        for (uint32_t other = 0; other < queues_.size(); other++)
            if (other != summary.thread && search(summary, other)) lost_threads |= 1ull << other;
        pushed(summary);
        if (steps) {
            RdmStep &step = add(summary);
            step.is_push = 1;
            step.lost = lost_threads;
            step.digest = digest(summary);
        }
        auto &queue = queues_[summary.thread];
        queue.push_front(std::move(summary));
        if (settings_->is_unbounded || queue.size() <= settings_->history_depth) return;
        if (measures) measures->leave(queue.back());
        queue.pop_back();
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

    // Compares with a thread's blocks, newest first; whether the window is lost.
    bool search(const Summary &summary, uint32_t other) {
        const auto &queue = queues_[other];
        uint32_t position = 0;
        for (const Summary &entry : queue) {
            counters.comparisons++;
            Relation relation = order(entry.timestamp, other, summary.timestamp, summary.thread);
            uint32_t conflict = 0;
            if (relation == UNORDERED) {
                counters.intersections++;
                conflict = intersect(summary, other, entry);
            }
            if (steps) {
                RdmStep &step = add(summary);
                step.other = other;
                step.position = position++;
                step.relation = relation;
                step.conflict = conflict;
            }
            if (relation == PRECEDES) {
                counters.hits++;
                return false;
            }
        }
        if (settings_->is_unbounded || queue.size() != settings_->history_depth) return false;
        lost[summary.thread * settings_->threads + other]++;
        if (measures) measures->lose(other);
        return true;
    }

    RdmStep &add(const Summary &summary) {
        RdmStep &step = steps->emplace_back();
        step.thread = summary.thread;
        step.sequence = summary.sequence;
        step.cause = summary.cause;
        return step;
    }

    // XOR of all 32-bit words of timestamp and signatures.
    uint32_t digest(const Summary &summary) const {
        unsigned width = std::bit_width(settings_->max_counter);
        Words words(std::max((width * summary.timestamp.size() + 63) / 64 + 1,
                             hash_->packed_bytes() / 8));
        for (const Words *signature : {&summary.read, &summary.write}) {
            Words packed(hash_->packed_bytes() / 8);
            hash_->pack(*signature, packed.data());
            for (size_t word = 0; word < packed.size(); word++) words[word] ^= packed[word];
        }
        for (size_t index = 0; index < summary.timestamp.size(); index++) {
            uint64_t counter = summary.timestamp[index];
            size_t bit = width * index;
            words[bit / 64] ^= counter << bit % 64;
            if (bit % 64 + width > 64) words[bit / 64 + 1] ^= counter >> (64 - bit % 64);
        }
        uint64_t folded = 0;
        for (uint64_t word : words) folded ^= word;
        return folded ^ folded >> 32;
    }

    // Logs the conflict of a message and an unordered block; 0 if there is none.
    uint32_t intersect(const Summary &summary, uint32_t other, const Summary &entry) {
        uint32_t conflict = 0;
        if (summary.reads && entry.writes && hash_->meet(summary.read, entry.write))
            conflict |= READ_WRITE;
        if (summary.writes && entry.reads && hash_->meet(summary.write, entry.read))
            conflict |= WRITE_READ;
        if (summary.writes && entry.writes && hash_->meet(summary.write, entry.write))
            conflict |= WRITE_WRITE;
        if (!conflict) return 0;
        counters.conflicts++;
        if (measures) measures->conflict(conflict, summary, entry);
        if (when_full && is_log_full()) when_full();
        if (is_log_full()) {
            counters.log_dropped++;
            return conflict;
        }
        Words signature(hash_->words());
        for (size_t word = 0; word < signature.size(); word++) {
            if (conflict & READ_WRITE) signature[word] |= summary.read[word] & entry.write[word];
            if (conflict & WRITE_READ) signature[word] |= summary.write[word] & entry.read[word];
            if (conflict & WRITE_WRITE) signature[word] |= summary.write[word] & entry.write[word];
        }
        log.push_back({summary.thread, other, conflict, summary.timestamp, entry.timestamp,
                       std::move(signature), BlockName(summary), BlockName(entry)});
        if (first_ < 0) first_ = summary.thread;
        return conflict;
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
