// Merge of the raw records of all threads into the events of one trace, by virtual time.
//
// Two passes over the records, each with one cursor a thread.  The first takes only the events that
// have a sequence number, in that order, and finds out where threads wait; the second takes all
// events, by virtual time.
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "thread_events.h"

namespace {

struct FrameHash {
    size_t operator()(const Frame &frame) const {
        uint64_t mixed = ((uint64_t)frame.caller << 32 | frame.call) * 0x9e3779b97f4a7c15u;
        return (mixed ^ mixed >> 29 ^ frame.function) * 0x9e3779b97f4a7c15u;
    }
};

bool is_unordered(uint8_t kind) {
    return kind == LOAD || kind == STORE || kind == COLLECT_OFF || kind == COLLECT_ON;
}

// Events of one thread in its order.
class Cursor {
public:
    explicit Cursor(uint16_t thread) { event.thread = thread; }

    Event event{};             // the latest one
    bool is_ordered = false;   // whether it has a sequence number
    uint64_t sequence = 0;
    int64_t time = 0;          // instructions so far

    void add(const Record *begin, const Record *end) { parts_.push_back({begin, end}); }

    // Goes back before the first event.
    void rewind() {
        part_ = 0;
        time = 0;
        frame_ = 0;
        frames_.clear();
        at_ = parts_.empty() ? nullptr : parts_[0].first;
    }

    // Goes to the next event; false if there is none.  What follows an empty record, or an event
    // whose extension is missing, was never written.
    bool next() {
        uint32_t instructions = 0;
        const Record *record = take();
        for (; record && record->tag >= FRAME_TAG; record = take()) {
            if (record->tag == FILLER_TAG) instructions += record->address;
            if (record->tag == IN_FRAME_TAG) frame_ = record->pc;
            if (record->tag == FRAME_TAG)
                frames_.push_back({(uint32_t)(record->address >> 32), (uint32_t)record->address,
                                   record->pc});
        }
        if (!record) return false;
        event.address = record->address;
        event.pc = record->pc;
        event.instructions = instructions + record->instructions;
        event.kind = record->tag - 1;
        event.size = record->size;
        event.value = event.kind <= ATOMIC_UPDATE ? frame_ << bits_below_frame(event) : 0;
        time += event.instructions;
        is_ordered = !is_unordered(event.kind);
        if (!is_ordered) return true;
        const Record *extension = take();
        if (!extension) return false;
        sequence = extension->address;
        event.value |= extension->pc;
        return true;
    }

    // Frames that have come so far.
    const std::vector<Frame> &frames() const { return frames_; }

private:
    std::vector<std::pair<const Record *, const Record *>> parts_;
    std::vector<Frame> frames_;
    uint32_t frame_ = 0;  // of the accesses that follow
    size_t part_ = 0;
    const Record *at_ = nullptr;

    const Record *take() {
        if (part_ == parts_.size()) return nullptr;
        if (at_ == parts_[part_].second) {
            if (++part_ == parts_.size()) return nullptr;
            at_ = parts_[part_].first;
        }
        return at_->tag ? at_++ : nullptr;
    }
};

// Threads in the order of a number that each has, the smallest first.
class Queue {
public:
    struct Entry {
        uint64_t number;
        uint32_t thread;
        bool operator<(const Entry &other) const {
            return number != other.number ? number < other.number : thread < other.thread;
        }
    };

    bool is_empty() const { return entries_.empty(); }
    const Entry &first() const { return entries_[0]; }

    void add(Entry entry) {
        entries_.push_back(entry);
        std::push_heap(entries_.begin(), entries_.end(), [](auto &a, auto &b) { return b < a; });
    }

    void replace_first(uint64_t number) {
        entries_[0].number = number;
        sink();
    }

    void remove_first() {
        entries_[0] = entries_.back();
        entries_.pop_back();
        if (!entries_.empty()) sink();
    }

private:
    std::vector<Entry> entries_;

    void sink() {
        Entry entry = entries_[0];
        size_t at = 0, child;
        while ((child = 2 * at + 1) < entries_.size()) {
            if (child + 1 < entries_.size() && entries_[child + 1] < entries_[child]) child++;
            if (!(entries_[child] < entry)) break;
            entries_[at] = entries_[child];
            at = child;
        }
        entries_[at] = entry;
    }
};

// Total time that a thread has waited, from one of its ordered events on.
struct Wait {
    uint64_t ordered;
    int64_t waited;
};

class Merge {
public:
    Merge(const uint8_t *data, uint64_t end, uint64_t most) : most_(most) {
        for (uint64_t offset = HEADER_BYTES; offset < end;) {
            const Part *part = reinterpret_cast<const Part *>(data + offset);
            if (part->bytes) {
                while (threads_.size() <= part->thread) threads_.emplace_back(threads_.size());
                threads_[part->thread].add(
                    reinterpret_cast<const Record *>(part + 1),
                    reinterpret_cast<const Record *>(data + offset + part->bytes));
            }
            // A process that was killed may leave a part without a header: it is empty.
            offset += part->bytes ? part->bytes : SMALLEST_PART;
        }
        waits_.resize(threads_.size());
        find_waits();
        find_frames();
    }

    // Upper bound of the number of events, missing begins and ends included.
    uint64_t room() const { return std::min(events_, most_) + 2 * (created_ + 1); }

    // Writes the events; none if the program's first thread left none.
    uint64_t run(Event *target) {
        if (waits_.empty() || !(threads_[0].rewind(), threads_[0].next())) return 0;
        Event *event = target;
        std::vector<int64_t> waited(threads_.size());
        std::vector<uint64_t> ordered(threads_.size());
        std::vector<const Wait *> wait(threads_.size());
        std::vector<uint8_t> begun(1 << 16), ended(1 << 16), created(1 << 16);
        Queue queue;
        auto next = [&](uint32_t number) {
            Cursor &thread = threads_[number];
            if (!thread.next()) return false;
            if (!thread.is_ordered) return true;
            const std::vector<Wait> &waits = waits_[number];
            if (wait[number] != waits.data() + waits.size() &&
                wait[number]->ordered == ordered[number])
                waited[number] = wait[number]++->waited;
            ordered[number]++;
            return true;
        };
        for (uint32_t number = 0; number < threads_.size(); number++) {
            threads_[number].rewind();
            wait[number] = waits_[number].data();
            if (next(number)) queue.add({time_of(number, waited), number});
        }
        created[0] = 1;
        for (uint64_t left = most_; left && !queue.is_empty(); left--) {
            uint32_t number = queue.first().thread;
            const Event &found = threads_[number].event;
            *event = found;
            if (found.kind <= ATOMIC_UPDATE) number_frame(*event, frame_numbers_[number]);
            event++;
            note_pc(found.pc);
            if (found.kind == BEGIN) begun[number] = 1;
            if (found.kind == END) ended[number] = 1;
            if (found.kind == CREATE) created[found.value & 0xffff] = 1;
            if (next(number)) queue.replace_first(time_of(number, waited));
            else queue.remove_first();
        }
        for (uint32_t number = 0; number < created.size(); number++) {
            if (!created[number]) continue;
            if (!begun[number]) *event++ = {0, 0, 0, 0, (uint16_t)number, BEGIN, 0};
            if (!ended[number]) *event++ = {0, 0, 0, 0, (uint16_t)number, END, 0};
            if (!begun[number] || !ended[number]) note_pc(0);
        }
        return event - target;
    }

    const std::unordered_set<uint32_t> &pcs() const { return pcs_; }

    // Frames of all threads, each once, and whether an event was made in each.
    const std::vector<Frame> &frames() const { return frames_; }
    const std::vector<uint8_t> &is_used() const { return is_used_; }

private:
    std::vector<Cursor> threads_;
    std::vector<std::vector<Wait>> waits_;
    std::vector<Frame> frames_;
    std::vector<std::vector<uint32_t>> frame_numbers_;  // of each thread's own frames
    std::vector<uint8_t> is_used_;
    uint64_t events_ = 0, created_ = 0, most_;
    std::unordered_set<uint32_t> pcs_;
    std::vector<uint64_t> recent_pcs_ = std::vector<uint64_t>(1 << 12, ~0ull);

    uint64_t time_of(uint32_t number, const std::vector<int64_t> &waited) const {
        return threads_[number].time + waited[number];
    }

    // Renumbers the frame of an access: from its thread's numbers to those of all threads.
    void number_frame(Event &access, const std::vector<uint32_t> &numbers) {
        unsigned below = bits_below_frame(access);
        uint32_t own = access.value >> below;
        if (!own) return;
        uint32_t frame = numbers[own - 1];
        access.value += (frame - own) << below;
        is_used_[frame - 1] = 1;
    }

    void note_pc(uint32_t pc) {
        uint64_t &recent = recent_pcs_[(pc ^ pc >> 12) & (recent_pcs_.size() - 1)];
        if (recent == pc) return;
        recent = pc;
        pcs_.insert(pc);
    }

    bool next_ordered(Cursor &thread) {
        while (thread.next()) {
            events_++;
            if (thread.is_ordered) return true;
        }
        return false;
    }

    void find_frames() {
        std::unordered_map<Frame, uint32_t, FrameHash> numbers;
        for (const Cursor &thread : threads_) {
            std::vector<uint32_t> &own = frame_numbers_.emplace_back();
            for (Frame frame : thread.frames()) {
                frame.caller = frame.caller ? own[frame.caller - 1] : 0;
                auto [known, is_new] = numbers.try_emplace(frame, numbers.size() + 1);
                if (is_new) frames_.push_back(frame);
                own.push_back(known->second);
            }
        }
        is_used_.resize(frames_.size());
    }

    // What an ordered event is ordered on: an address, or a thread as a negative number.
    static int64_t object_of(const Event &event) {
        if (event.kind == CREATE || event.kind == JOIN) return -1 - (int64_t)event.value;
        if (event.kind == BEGIN || event.kind == END) return -1 - (int64_t)event.thread;
        return event.address;
    }

    void find_waits() {
        std::unordered_map<int64_t, int64_t> last;
        std::vector<int64_t> waited(threads_.size());
        std::vector<uint64_t> ordered(threads_.size());
        Queue queue;
        for (uint32_t number = 0; number < threads_.size(); number++) {
            threads_[number].rewind();
            if (next_ordered(threads_[number])) queue.add({threads_[number].sequence, number});
        }
        while (!queue.is_empty()) {
            uint32_t number = queue.first().thread;
            Cursor &thread = threads_[number];
            int64_t time = thread.time + waited[number];
            created_ += thread.event.kind == CREATE;
            auto [before, is_new] = last.try_emplace(object_of(thread.event), time);
            if (!is_new) {
                if (time <= before->second) {
                    waited[number] += before->second + 1 - time;
                    waits_[number].push_back({ordered[number], waited[number]});
                    time = before->second + 1;
                }
                before->second = time;
            }
            ordered[number]++;
            if (next_ordered(thread)) queue.replace_first(thread.sequence);
            else queue.remove_first();
        }
    }
};

}  // namespace

extern "C" {

void *racetrap_merge_new(const uint8_t *data, uint64_t end, uint64_t most) {
    return new Merge(data, end, most);
}

uint64_t racetrap_merge_room(const void *merge) { return static_cast<const Merge *>(merge)->room(); }

// Writes at most as many events as there is room for, and returns their number.
uint64_t racetrap_merge_run(void *merge, Event *target) {
    return static_cast<Merge *>(merge)->run(target);
}

// Returns the number of program counters in the events; copies them if there is room for all.
uint64_t racetrap_merge_pcs(const void *merge, uint32_t *target, uint64_t room) {
    const auto &pcs = static_cast<const Merge *>(merge)->pcs();
    if (pcs.size() <= room) std::copy(pcs.begin(), pcs.end(), target);
    return pcs.size();
}

// Returns the number of frames; copies them, and whether an event was made in each, if there is
// room for all.
uint64_t racetrap_merge_frames(const void *merge, Frame *target, uint8_t *is_used, uint64_t room) {
    const Merge &merged = *static_cast<const Merge *>(merge);
    if (room < merged.frames().size()) return merged.frames().size();
    std::copy(merged.frames().begin(), merged.frames().end(), target);
    std::copy(merged.is_used().begin(), merged.is_used().end(), is_used);
    return merged.frames().size();
}

void racetrap_merge_delete(void *merge) { delete static_cast<Merge *>(merge); }
}
