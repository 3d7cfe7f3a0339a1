// Memory and numbers of the target's small C library.
#pragma once
#include <stddef.h>
void *malloc(size_t size);
void *aligned_alloc(size_t alignment, size_t size);
void free(void *address);
int atoi(const char *text);
int abs(int value);
_Noreturn void exit(int status);
