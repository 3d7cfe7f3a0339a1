// A launch compared: transactions of each SM, then the steps of each bank.
//
// The same as racetrap.sim.cosim.scord.scoreboard with .expected_packets, for a launch of which
// all transactions are known before the first step.  It says only whether all agrees.

#include <cstring>

#include "detector_bank.h"

// A packet that a bank must take from an SM, by its number among the SM's packets, and how many of
// the other kind (accesses, fences) it must come behind.
struct Due {
    uint32_t packet, behind;
};

// Accesses and fences of one SM at one bank.
struct ExpectedPackets {
    std::vector<Due> due[2];  // accesses, fences
    size_t seen[2] = {};

    // The next of its kind; null if none may come.
    const Due *take(bool is_fence) {
        size_t &next = seen[is_fence];
        if (next == due[is_fence].size()) return nullptr;
        const Due &each = due[is_fence][next];
        if (seen[!is_fence] < each.behind) return nullptr;
        next++;
        return &each;
    }
};

// Fences of an SM, counted: how many an access must find behind it.
class FencesSent {
public:
    explicit FencesSent(const Settings &settings)
        : of_warp_(settings.warps_per_sm), of_block_(settings.blocks_per_sm),
          at_barrier_(settings.blocks_per_sm) {}

    uint32_t before(const Transaction &each) {
        if (each.kind == FENCE) of_warp_[each.warp] = of_block_[each.slot] = ++sent_;
        if (each.kind == BARRIER) at_barrier_[each.slot] = of_block_[each.slot];
        return std::max(of_warp_[each.warp], at_barrier_[each.slot]);
    }

private:
    uint32_t sent_ = 0;
    std::vector<uint32_t> of_warp_, of_block_, at_barrier_;
};

class Scoreboard {
public:
    Scoreboard(const Settings &settings, const Region *regions, uint64_t count)
        : settings_(settings), regions_(regions, regions + count), buffers_(settings.sm_count),
          packets_(settings.sm_count), fences_(settings.sm_count, FencesSent(settings)),
          expected_(size_t(settings.banks) * settings.sm_count), due_(settings.banks),
          absent_(settings.banks) {
        for (uint32_t sm = 0; sm < settings.sm_count; sm++) trackers_.emplace_back(settings_, sm);
        for (uint32_t bank = 0; bank < settings.banks; bank++)
            banks_.emplace_back(settings_, regions_, metadata_);
    }

    // Transactions of one SM, with what the hardware says that it leaves out, if it says so.
    // Gives the steps of each, over all banks; false if the hardware is wrong.
    bool transactions(uint32_t sm, const uint32_t *words, uint64_t count, const uint8_t *left_out,
                      uint32_t *steps) {
        for (uint64_t n = 0; n < count; n++, words += settings_.transaction_words) {
            Transaction each(settings_.transaction, words);
            bool is_handed_on = buffers_[sm].hands_on(settings_, each, left_out && left_out[n]);
            if (left_out && is_handed_on == bool(left_out[n])) return false;
            steps[n] = 0;
            if (!is_handed_on) continue;
            uint32_t behind = fences_[sm].before(each);
            trackers_[sm].step(
                each, [&](const Packet &packet) { steps[n] += predict(sm, packet, behind); });
        }
        return true;
    }

    // A bank that the hardware does not have: nothing is due there.
    void leave_out(uint32_t bank) { absent_[bank] = true; }

    const std::vector<uint64_t> &due() const { return due_; }

    // Compares the steps of a bank, every bit; gives the numbers of those that are races, and how
    // many these are, or -1 if a step differs.
    int64_t take(uint32_t bank, const uint32_t *words, uint64_t count, uint64_t *races) {
        const StepFields &at = settings_.step;
        std::vector<uint32_t> golden(settings_.step_words);
        int64_t found = 0;
        for (uint64_t n = 0; n < count; n++, words += settings_.step_words) {
            uint64_t sm = get(at.block, words) >> settings_.slot_bits;
            if (sm >= settings_.sm_count) return -1;
            auto &expected = expected_[size_t(bank) * settings_.sm_count + sm];
            const Due *due = expected.take(get(at.kind, words) == FENCE);
            if (!due) return -1;
            const Packet &packet = packets_[sm][due->packet];
            Step step = banks_[bank].step(packet, get(at.read_error, words));
            pack(packet, step, golden);
            if (std::memcmp(golden.data(), words, 4 * golden.size())) return -1;
            if (step.race) races[found++] = n;
        }
        due_[bank] -= count;
        return found;
    }

    uint64_t left_out() const {
        uint64_t sum = 0;
        for (const AccessBuffer &buffer : buffers_) sum += buffer.left_out;
        return sum;
    }

    const Metadata &metadata() const { return metadata_; }

private:
    Settings settings_;
    std::vector<Region> regions_;
    std::vector<AccessBuffer> buffers_;
    std::vector<Tracker> trackers_;
    std::vector<std::vector<Packet>> packets_;  // of each SM
    std::vector<FencesSent> fences_;
    std::vector<ExpectedPackets> expected_;  // by bank and SM
    std::vector<uint64_t> due_;
    std::vector<bool> absent_;  // of each bank
    Metadata metadata_;
    std::vector<DetectorBank> banks_;

    // A packet is due at its bank, a fence at all that are there; how many banks these are.
    uint32_t predict(uint32_t sm, const Packet &packet, uint32_t behind) {
        bool is_fence = packet.kind == FENCE;
        uint32_t number = packets_[sm].size();
        packets_[sm].push_back(packet);
        uint32_t first = is_fence ? 0 : bank_of(settings_, packet.word);
        uint32_t last = is_fence ? settings_.banks - 1 : first, banks = 0;
        for (uint32_t bank = first; bank <= last; bank++) {
            if (absent_[bank]) continue;
            banks++;
            ExpectedPackets &expected = expected_[size_t(bank) * settings_.sm_count + sm];
            uint32_t accesses = expected.due[0].size();
            expected.due[is_fence].push_back({number, is_fence ? accesses : behind});
            due_[bank]++;
        }
        return banks;
    }

    void pack(const Packet &packet, const Step &step, std::vector<uint32_t> &words) const {
        const StepFields &at = settings_.step;
        std::fill(words.begin(), words.end(), 0);
        uint32_t *to = words.data();
        put(at.kind, to, packet.kind);
        put(at.scope, to, packet.scope);
        put(at.strong, to, packet.strong);
        put(at.block, to, packet.block);
        put(at.warp, to, packet.warp);
        put(at.barrier_id, to, packet.barrier_id);
        put(at.filter, to, packet.filter);
        put(at.pc, to, packet.pc);
        put(at.word, to, packet.word);
        put(at.generation, to, packet.generation);
        put(at.row, to, step.row);
        put(at.preliminary, to, step.preliminary);
        put(at.race, to, step.race);
        put(at.tag_conflict, to, step.tag_conflict);
        put(at.read_error, to, step.read_error);
        put(at.owner_blk_fence_id, to, step.owner_blk);
        put(at.owner_dev_fence_id, to, step.owner_dev);
        put(at.own_blk_fence_id, to, step.own_blk);
        put(at.own_dev_fence_id, to, step.own_dev);
        put(at.before, to, step.before);
        put(at.after, to, step.after);
    }
};

extern "C" {

Scoreboard *racetrap_scord_new(const Settings *settings, const Region *regions, uint64_t count) {
    return new Scoreboard(*settings, regions, count);
}
void racetrap_scord_delete(Scoreboard *board) { delete board; }
bool racetrap_scord_transactions(Scoreboard *board, uint32_t sm, const uint32_t *words,
                                 uint64_t count, const uint8_t *left_out, uint32_t *steps) {
    return board->transactions(sm, words, count, left_out, steps);
}
void racetrap_scord_absent(Scoreboard *board, uint32_t bank) { board->leave_out(bank); }
void racetrap_scord_due(const Scoreboard *board, uint64_t *by_bank) {
    std::copy(board->due().begin(), board->due().end(), by_bank);
}
int64_t racetrap_scord_take(Scoreboard *board, uint32_t bank, const uint32_t *words, uint64_t count,
                            uint64_t *races) {
    return board->take(bank, words, count, races);
}
uint64_t racetrap_scord_left_out(const Scoreboard *board) { return board->left_out(); }
void racetrap_scord_entries(const Scoreboard *board, const uint64_t *indices, uint64_t count,
                            uint64_t *entries) {
    for (uint64_t n = 0; n < count; n++) entries[n] = board->metadata().look_up(indices[n]);
}
// Indices of the entries that accesses have left behind, as many as `indices` takes; how many.
uint64_t racetrap_scord_written(const Scoreboard *board, uint64_t *indices, uint64_t count) {
    uint64_t written = 0;
    board->metadata().for_each([&](uint64_t index) {
        if (written++ < count) indices[written - 1] = index;
    });
    return written;
}
}
