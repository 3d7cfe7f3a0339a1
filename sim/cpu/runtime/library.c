// Functions of the C library, besides those of strings, that access the program's memory: printing
// into it, sorting, streams and numbers.  The linker redirects the program's calls to ours.
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <inttypes.h>

#include "formats.h"
#include "library.h"

// A function that prints, with its arguments as a list and one by one; `written` says where to.
#define PRINT(name, parameters, arguments, written)                      \
    static int print_##name(parameters, const char *format, va_list list, uint32_t pc) { \
        va_list copy;                                                    \
        va_copy(copy, list);                                             \
        racetrap_printed(format, copy, pc);                                  \
        va_end(copy);                                                    \
        int result = v##name(arguments, format, list);            \
        written;                                                         \
        return result;                                                   \
    }                                                                    \
    EXPORT int __wrap_v##name(parameters, const char *format, va_list list) { \
        return print_##name(arguments, format, list, CALLER);            \
    }                                                                    \
    EXPORT int __wrap_##name(parameters, const char *format, ...) {      \
        va_list list;                                                    \
        va_start(list, format);                                          \
        int result = print_##name(arguments, format, list, CALLER);      \
        va_end(list);                                                    \
        return result;                                                   \
    }

#define COMMA ,
PRINT(sprintf, char *to, to,
      if (result >= 0) racetrap_library_range(STORE, to, result + 1, pc))
PRINT(snprintf, char *to COMMA size_t size, to COMMA size,
      if (result >= 0 && size)
          racetrap_library_range(STORE, to, (size_t)result < size ? (size_t)result + 1 : size, pc))
PRINT(fprintf, FILE *stream, stream, )
PRINT(dprintf, int file, file, )
PRINT(asprintf, char **to, to, if (result >= 0) {
    racetrap_library_range(STORE, to, sizeof *to, pc);
    racetrap_library_range(STORE, *to, result + 1, pc);
})

EXPORT int __wrap_vprintf(const char *format, va_list list) {
    return print_fprintf(stdout, format, list, CALLER);
}

EXPORT int __wrap_printf(const char *format, ...) {
    va_list list;
    va_start(list, format);
    int result = print_fprintf(stdout, format, list, CALLER);
    va_end(list);
    return result;
}

// A function that scans, of each standard of C, with its arguments as a list and one by one; `read`
// says where from.
#define SCAN_BY(name, real, parameters, arguments, read)                 \
    EXPORT int __wrap_##name(parameters, const char *format, ...) {      \
        va_list list, copy;                                              \
        va_start(list, format);                                          \
        va_copy(copy, list);                                             \
        read;                                                            \
        int result = v##real(arguments, format, list);                   \
        racetrap_scanned(format, copy, result, CALLER);                  \
        va_end(copy);                                                    \
        va_end(list);                                                    \
        return result;                                                   \
    }
#define SCAN_LIST_BY(name, real, parameters, arguments, read)            \
    EXPORT int __wrap_##name(parameters, const char *format, va_list list) { \
        va_list copy;                                                    \
        va_copy(copy, list);                                             \
        read;                                                            \
        int result = real(arguments, format, list);                      \
        racetrap_scanned(format, copy, result, CALLER);                  \
        va_end(copy);                                                    \
        return result;                                                   \
    }
#define SCAN(name, parameters, arguments, read)                          \
    SCAN_BY(name, name, parameters, arguments, read)                     \
    SCAN_BY(__isoc99_##name, name, parameters, arguments, read)          \
    SCAN_BY(__isoc23_##name, name, parameters, arguments, read)          \
    SCAN_LIST_BY(v##name, v##name, parameters, arguments, read)          \
    SCAN_LIST_BY(__isoc99_v##name, v##name, parameters, arguments, read) \
    SCAN_LIST_BY(__isoc23_v##name, v##name, parameters, arguments, read)

SCAN(sscanf, const char *from, from, READ_TEXT(from))
SCAN(fscanf, FILE *stream, stream, )

#define SCAN_INPUT(prefix)                                               \
    EXPORT int __wrap_##prefix##vscanf(const char *format, va_list list) { \
        va_list copy;                                                    \
        va_copy(copy, list);                                             \
        int result = vscanf(format, list);                               \
        racetrap_scanned(format, copy, result, CALLER);                  \
        va_end(copy);                                                    \
        return result;                                                   \
    }                                                                    \
    EXPORT int __wrap_##prefix##scanf(const char *format, ...) {         \
        va_list list, copy;                                              \
        va_start(list, format);                                          \
        va_copy(copy, list);                                             \
        int result = vscanf(format, list);                               \
        racetrap_scanned(format, copy, result, CALLER);                  \
        va_end(copy);                                                    \
        va_end(list);                                                    \
        return result;                                                   \
    }
SCAN_INPUT()
SCAN_INPUT(__isoc99_)
SCAN_INPUT(__isoc23_)

EXPORT int __wrap_puts(const char *text) {
    READ_TEXT(text);
    return puts(text);
}

EXPORT int __wrap_fputs(const char *text, FILE *stream) {
    READ_TEXT(text);
    return fputs(text, stream);
}

#define STREAM(unlocked)                                                                       \
    EXPORT size_t __wrap_fwrite##unlocked(const void *from, size_t size, size_t count,         \
                                          FILE *stream) {                                      \
        READ(from, size * count);                                                              \
        return fwrite##unlocked(from, size, count, stream);                                    \
    }                                                                                          \
    WRAPPER(size_t, fread##unlocked, (void *to, size_t size, size_t count, FILE *stream),      \
            (to, size, count, stream), WRITTEN(to, size * result))                             \
    WRAPPER(char *, fgets##unlocked, (char *to, int size, FILE *stream), (to, size, stream),   \
            if (result) WRITTEN_TEXT(to))
STREAM()
STREAM(_unlocked)

#define LINE(name, parameters, arguments)                                                      \
    WRAPPER(ssize_t, name, (char **to, size_t *size parameters, FILE *stream),                 \
            (to, size arguments, stream), WRITTEN_OBJECT(to); WRITTEN_OBJECT(size);            \
            if (result >= 0) WRITTEN(*to, result + 1))
LINE(getline, , )
LINE(getdelim, COMMA int end, COMMA end)

// All is read before, and written after: the comparison sees what is between.
EXPORT void __wrap_qsort(void *base, size_t count, size_t size,
                         int (*compare)(const void *, const void *)) {
    READ(base, count * size);
    qsort(base, count, size, compare);
    WRITTEN(base, count * size);
}

// A number from a text: what it reads ends behind the number.
#define NUMBER(type, name, real, parameters, arguments)                         \
    EXPORT type __wrap_##name(const char *text, char **end parameters) {        \
        char *stop;                                                             \
        type result = real(text, &stop arguments);                              \
        READ(text, stop - text + 1);                                            \
        if (end) {                                                              \
            *end = stop;                                                        \
            WRITTEN_OBJECT(end);                                                \
        }                                                                       \
        return result;                                                          \
    }
#define INTEGER(type, name)                                                     \
    NUMBER(type, name, name, COMMA int base, COMMA base)                        \
    NUMBER(type, __isoc23_##name, name, COMMA int base, COMMA base)

INTEGER(long, strtol)
INTEGER(unsigned long, strtoul)
INTEGER(long long, strtoll)
INTEGER(unsigned long long, strtoull)
INTEGER(intmax_t, strtoimax)
INTEGER(uintmax_t, strtoumax)
NUMBER(float, strtof, strtof, , )
NUMBER(double, strtod, strtod, , )
NUMBER(long double, strtold, strtold, , )

static long number(const char *text, uint32_t pc) {
    char *stop;
    long result = strtol(text, &stop, 10);
    racetrap_library_range(LOAD, text, stop - text + 1, pc);
    return result;
}

EXPORT int __wrap_atoi(const char *text) { return (int)number(text, CALLER); }

EXPORT long __wrap_atol(const char *text) { return number(text, CALLER); }

EXPORT long long __wrap_atoll(const char *text) { return number(text, CALLER); }

EXPORT double __wrap_atof(const char *text) {
    char *stop;
    double result = strtod(text, &stop);
    READ(text, stop - text + 1);
    return result;
}
