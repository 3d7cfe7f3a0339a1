// Functions in whose calls alone accesses are recorded, if the user has named any.
#ifndef REGIONS_H
#define REGIONS_H

#include "record.h"

// Reads the functions' places, "begin-end,..." in hexadecimal; NULL: there are none.
void racetrap_read_regions(const char *text);

int racetrap_has_regions(void);

// Whether a return address lies in one of the functions.
int racetrap_is_in_region(uint32_t pc);

#endif
