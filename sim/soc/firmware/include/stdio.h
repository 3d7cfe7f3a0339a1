// Output of the target's small C library.
#pragma once
typedef struct file FILE;
extern FILE *const stderr;
int printf(const char *format, ...);
int fprintf(FILE *file, const char *format, ...);
