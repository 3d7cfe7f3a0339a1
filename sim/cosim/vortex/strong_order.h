// Order in which memory performs strong accesses: of each word that in which the detector has
// accepted their transactions.

#pragma once

#include "memory.h"

#include <deque>
#include <map>

class StrongOrder {
  public:
    bool is_kept = false;  // otherwise accesses are performed as cores make them

    // The detector has accepted a transaction.  Those of warps that try a lock are of the lock,
    // which memory has performed already.
    void accept(int core, const uint32_t* words, uint32_t locking) {
        uint32_t warp = bits_of(words, TAKEN_WARP_HIGH, TAKEN_WARP_LOW);
        bool is_strong = bits_of(words, TAKEN_STRONG_HIGH, TAKEN_STRONG_LOW);
        if (!is_kept || !is_strong || locking >> warp & 1) return;
        uint32_t word = bits_of(words, TAKEN_WORD_HIGH, TAKEN_WORD_LOW);
        waiting[word % WORDS].push_back(
            {core, warp, uint32_t(bits_of(words, TAKEN_BYTES_HIGH, TAKEN_BYTES_LOW))});
    }

    // Whether nothing that was accepted before is still to be performed at a request's words.
    bool is_next(int core, const Request& request) const {
        if (!has_place(request)) return true;
        for (int n = 0; n < 4; n++) {
            auto found = waiting.find(word_of(request, n));
            if (!bytes_of(request, n) || found == waiting.end()) continue;
            if (!found->second.front().is_of(core, request)) return false;
        }
        return true;
    }

    // A request has all accesses of its instruction to its words; lanes with the same bytes are one.
    // Whether they are what was accepted.
    bool perform(int core, const Request& request) {
        if (!has_place(request)) return true;
        uint32_t left = 0;
        for (int n = 0; n < 4; n++) {
            uint32_t word = word_of(request, n), bytes = bytes_of(request, n);
            auto& queue = waiting[word];
            while (bytes && !queue.empty() && queue.front().is_of(core, request) &&
                   !(queue.front().bytes & ~bytes)) {
                bytes &= ~queue.front().bytes;
                queue.pop_front();
            }
            if (queue.empty()) waiting.erase(word);
            left |= bytes;
        }
        return !left;
    }

    // Whether all that was accepted has been performed.
    bool is_empty() const { return waiting.empty(); }

  private:
    // Words that differ in more than the window.
    static constexpr uint32_t WORDS = 1 << 26;
    struct Access {
        int core;
        uint32_t warp, bytes;
        bool is_of(int other, const Request& request) const {
            return core == other && warp == request.warp();
        }
    };
    std::map<uint32_t, std::deque<Access>> waiting;

    bool has_place(const Request& request) const {
        uint32_t kind = request.window() & 7;
        bool is_strong = Memories::is_monitored(request.window()) && kind != WINDOW_WEAK;
        return is_kept && is_strong && !request.flush && (kind != WINDOW_LOCK || request.store);
    }
    static uint32_t bytes_of(const Request& request, int n) { return request.bytes >> 4 * n & 15; }
    static uint32_t word_of(const Request& request, int n) { return (request.address / 4 + n) % WORDS; }
};
