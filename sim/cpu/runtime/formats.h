// Formats of printf() and scanf(): the accesses that their arguments stand for.
#ifndef FORMATS_H
#define FORMATS_H

#include <stdarg.h>

#include "record.h"

// Records what printing with a format reads of its arguments, and what `%n` writes.
void racetrap_printed(const char *format, va_list arguments, uint32_t pc);

// Records what scanning with a format has written; `assigned` conversions were successful.
void racetrap_scanned(const char *format, va_list arguments, int assigned, uint32_t pc);

#endif
