// Clocks of the core units, each of which stops while its unit would change nothing.

#pragma once

#include "ports.h"

#include <cstring>
#include <vector>

// Lets an edge pass unless it is sure to change nothing: at the edge before, the unit had the same
// inputs and did not change.  Whether it has changed is seen by comparing its memory, which is done
// in some cycles only.
class UnitClock {
  public:
    void begin(const InstanceMemory& unit_, const Gate& gate_) {
        unit = unit_;
        gate = &gate_;
        copy.resize(unit.bytes);
    }

    // After each cycle.
    void set() {
        if (gate->moves) look();
        gate->moves = !(is_stable && gate->same);
    }

  private:
    static constexpr int PAUSE = 6;  // cycles without a comparison after a change was seen
    InstanceMemory unit{};
    const Gate* gate = nullptr;
    std::vector<char> copy;  // the unit before the last edge
    bool has_copy = false, is_stable = false;
    int pause = 0;

    void look() {
        is_stable = has_copy && !std::memcmp(copy.data(), unit.data, unit.bytes);
        if (has_copy) {
            has_copy = false;
            pause = PAUSE;
        } else if (pause) {
            pause--;
        } else {
            std::memcpy(copy.data(), unit.data, unit.bytes);
            has_copy = true;
        }
    }
};
