// Bytes and texts of the target's small C library.
#pragma once
#include <stddef.h>
void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int strcmp(const char *one, const char *other);
