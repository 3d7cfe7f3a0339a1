// Formats of printf() and scanf(): the accesses that their arguments stand for.
#ifndef FORMATS_H
#define FORMATS_H

#include <stdarg.h>

#include "record.h"

// Records what printing by a format reads of its arguments, and what `%n` writes.
void racetrap_printed(const char *format, va_list arguments, uint32_t pc);

// Records what reading by a format has written, of which `assigned` conversions were successful.
void racetrap_scanned(const char *format, va_list arguments, int assigned, uint32_t pc);

#endif
