// Loads and stores of a warp's lanes, as inner loops of NumPy's ufuncs.
//
// A loop either does the whole instruction, its event in the log included, or nothing but say so.

#include <cstdint>
#include <cstring>

#include "twins.h"

namespace {

// Where lanes' addresses lie, and what may be added to the first.
struct Window {
    char *memory;
    int64_t first, last, lane_stride;
};

Window window_of(const WarpRow &warp, const AccessRow &access) {
    switch (access.window) {
    case HEAP_WINDOW: {
        const int64_t *bounds = warp.bounds + 2 * access.number;
        return {warp.heap, bounds[0], bounds[1], 0};
    }
    case SHARED_WINDOW:
        return {warp.shared, 0, warp.shared_size - access.size, 0};
    case LOCAL_WINDOW:
        return {warp.local, 0, warp.local_size - access.size, warp.local_size};
    default:
        return {warp.parameters, 0, warp.parameter_size - access.size, 0};
    }
}

// An instruction of a warp: its lanes' addresses, and the place in memory of each.
template <typename Address> class Move {
    const char *addresses;
    intptr_t step;
    const WarpRow &warp;
    const AccessRow &access;
    const Window window;
    LogCursor &log;

    int64_t address(int lane) const {
        const auto base = *reinterpret_cast<const Address *>(addresses + lane * step);
        return static_cast<Address>(base + static_cast<Address>(access.offset));
    }

    bool fits() const {
        bool fits = true;
        for (int lane = 0; lane < LANES; ++lane) {
            const int64_t place = address(lane) - window.first;
            const bool fits_here =
                place >= 0 && place <= window.last && !(place & (access.size - 1));
            fits &= fits_here || !has(lane);
        }
        return fits;
    }

public:
    Move(const char *addresses, intptr_t step, const WarpRow &warp, const AccessRow &access)
        : addresses(addresses), step(step), warp(warp), access(access),
          window(window_of(warp, access)), log(*warp.log) {}

    bool has(int lane) const { return warp.mask >> lane & 1; }

    char *place(int lane) const {
        return window.memory + address(lane) + lane * window.lane_stride;
    }

    // Whether it can be done at once: every place is in memory, and the log has room.
    bool begin() const {
        const bool has_room =
            !access.is_logged || (log.event_bytes + int64_t{sizeof(Event)} <= log.event_room &&
                                  log.lane_bytes + LANES * int64_t{sizeof(LaneRecord)} <=
                                      log.lane_room);
        if (has_room && fits()) return true;
        log.is_refused = 1;
        return false;
    }

    void log_event() const {
        Event event{};
        event.kind = access.kind;
        event.scope = access.scope;
        event.strong = access.is_strong;
        event.op = access.op;
        event.size = access.size;
        event.slot = warp.slot;
        event.warp = warp.number;
        event.sm = warp.sm;
        event.pc = access.pc;
        event.mask = warp.mask;
        event.space = access.space;
        event.order = access.order;
        event.first_lane = log.lanes_before + log.lane_bytes / sizeof(LaneRecord);
        std::memcpy(log.events + log.event_bytes, &event, sizeof event);
        log.event_bytes += sizeof event;
    }

    void log_lane(int lane, const LaneRecord &values) const {
        LaneRecord record = values;
        record.address = address(lane);
        std::memcpy(log.lanes + log.lane_bytes, &record, sizeof record);
        log.lane_bytes += sizeof record;
    }
};

template <typename T> const T &row(char *array) { return *reinterpret_cast<const T *>(array); }

// Arrays: addresses, warp, instruction; then where the elements go.
template <typename Address, int BYTES, int ELEMENTS>
void load(char **arrays, const intptr_t *steps) {
    const auto &access = row<AccessRow>(arrays[2]);
    const Move<Address> move(arrays[0], steps[0], row<WarpRow>(arrays[1]), access);
    if (!move.begin()) return;
    if (access.is_logged) move.log_event();
    for (int lane = 0; lane < LANES; ++lane) {
        if (!move.has(lane)) continue;
        const char *place = move.place(lane);
        // Logged first: the value may overwrite the address.
        if (access.is_logged) move.log_lane(lane, {});
        for (int n = 0; n < ELEMENTS; ++n)
            std::memcpy(arrays[3 + n] + lane * steps[3 + n], place + n * BYTES, BYTES);
    }
}

// Arrays: addresses, instruction, elements, warp.
template <typename Address, int BYTES, int ELEMENTS>
void store(char **arrays, const intptr_t *steps) {
    const auto &access = row<AccessRow>(arrays[1]);
    const Move<Address> move(arrays[0], steps[0], row<WarpRow>(arrays[2 + ELEMENTS]), access);
    if (!move.begin()) return;
    const auto value = [&](int lane, int n) { return arrays[2 + n] + lane * steps[2 + n]; };
    if (access.is_logged) {
        move.log_event();
        for (int lane = 0; lane < LANES; ++lane) {
            if (!move.has(lane)) continue;
            LaneRecord record{};
            for (int n = 0; n < ELEMENTS; ++n)
                std::memcpy(reinterpret_cast<char *>(&record.value) + n * BYTES, value(lane, n),
                            BYTES);
            move.log_lane(lane, record);
        }
    }
    // Of lanes that store to the same address the first one stays.
    for (int lane = LANES - 1; lane >= 0; --lane) {
        if (!move.has(lane)) continue;
        for (int n = 0; n < ELEMENTS; ++n)
            std::memcpy(move.place(lane) + n * BYTES, value(lane, n), BYTES);
    }
}

} // namespace

#define LOOP(name, move)                                                                           \
    extern "C" void name(char **arrays, const intptr_t *, const intptr_t *steps, void *) {         \
        move(arrays, steps);                                                                       \
    }
#define LOOPS(bytes, elements)                                                                     \
    LOOP(load_##bytes##_##elements, (load<int64_t, bytes, elements>))                              \
    LOOP(store_##bytes##_##elements, (store<int64_t, bytes, elements>))                            \
    LOOP(narrow_load_##bytes##_##elements, (load<uint32_t, bytes, elements>))                      \
    LOOP(narrow_store_##bytes##_##elements, (store<uint32_t, bytes, elements>))

LOOPS(1, 1)
LOOPS(1, 2)
LOOPS(1, 4)
LOOPS(2, 1)
LOOPS(2, 2)
LOOPS(2, 4)
LOOPS(4, 1)
LOOPS(4, 2)
LOOPS(4, 4)
LOOPS(8, 1)
LOOPS(8, 2)
