// What the example system has: registers, and the runtime's view of the target.
#ifndef TARGET_H
#define TARGET_H

#include <stddef.h>
#include <stdint.h>

#include "addresses.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))

// Stands in for the recorder's file of records, which the target does not have.
#define RAW_FILE_H
_Noreturn void racetrap_die(const char *format, ...);

void *__real_memcpy(void *to, const void *from, size_t size);
void *__real_memset(void *to, int byte, size_t size);

#endif
