// Functions in whose calls alone accesses are recorded, if the user has named any.
#ifndef REGIONS_H
#define REGIONS_H

#include "record.h"

// Reads the functions' places, "begin-end,..." in hexadecimal; NULL: there are none.
void racetrap_read_regions(const char *text);

int racetrap_has_regions(void);

// Whether a return address lies in one of the functions.
int racetrap_is_in_region(uint32_t pc);

// A thread is in a region from the call of such a function until that call returns.
static inline void racetrap_enter_function(uint32_t pc) {
    self.calls++;
    if (!LIKELY(!self.is_outside) && racetrap_is_in_region(pc)) {
        self.region = self.calls;
        self.is_outside = 0;
    }
}

static inline void racetrap_leave_function(void) {
    if (!LIKELY(!self.region) && self.region == self.calls) {
        self.region = 0;
        self.is_outside = 1;
    }
    self.calls--;
}

#endif
