// Functions of the C library, besides those of strings, that access the program's memory: printing
// into it, sorting, streams and numbers.  The linker puts ours in the place of the program's calls.
#define _GNU_SOURCE
#include <printf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "record.h"

#define READ(address, bytes) racetrap_library_range(LOAD, address, bytes, CALLER)
#define WRITTEN(address, bytes) racetrap_library_range(STORE, address, bytes, CALLER)
#define MOST_ARGUMENTS 64

size_t __real_strlen(const char *text);
size_t __real_strspn(const char *text, const char *set);
char *__real_strchr(const char *text, int letter);

// Whether a format prints a part of a string that may have no end.
static int has_partial_string(const char *format) {
    while ((format = __real_strchr(format, '%'))) {
        format++;
        format += __real_strspn(format, "-+ #0'123456789*$");
        int is_partial = *format == '.';
        format += __real_strspn(format, ".0123456789*$hlLqjzt");
        if (is_partial && *format == 's') return 1;
        if (*format) format++;
    }
    return 0;
}

// Records that the strings among the arguments of a format are read.
static void read_strings(const char *format, va_list arguments, uint32_t pc) {
    int types[MOST_ARGUMENTS];
    if (!is_recording() || has_partial_string(format)) return;
    size_t count = parse_printf_format(format, MOST_ARGUMENTS, types);
    for (size_t i = 0; i < count && i < MOST_ARGUMENTS; i++) {
        int flags = types[i] & PA_FLAG_MASK;
        if (flags & PA_FLAG_PTR) {
            (void)va_arg(arguments, void *);
            continue;
        }
        switch (types[i] & ~PA_FLAG_MASK) {
        case PA_STRING: {
            const char *text = va_arg(arguments, const char *);
            if (text) racetrap_library_range(LOAD, text, __real_strlen(text) + 1, pc);
            break;
        }
        case PA_WSTRING:
        case PA_POINTER: (void)va_arg(arguments, void *); break;
        case PA_FLOAT:
        case PA_DOUBLE:
            if (flags & PA_FLAG_LONG_DOUBLE) (void)va_arg(arguments, long double);
            else (void)va_arg(arguments, double);
            break;
        case PA_WCHAR: (void)va_arg(arguments, wint_t); break;
        default:
            if (flags & (PA_FLAG_LONG | PA_FLAG_LONG_LONG)) (void)va_arg(arguments, long);
            else (void)va_arg(arguments, int);
        }
    }
}

// A function that prints, with its arguments as a list and one by one; `written` says where to.
#define PRINT(name, parameters, arguments, written)                      \
    int __real_v##name(parameters, const char *format, va_list list);    \
    static int print_##name(parameters, const char *format, va_list list, uint32_t pc) { \
        va_list copy;                                                    \
        va_copy(copy, list);                                             \
        read_strings(format, copy, pc);                                  \
        va_end(copy);                                                    \
        int result = __real_v##name(arguments, format, list);            \
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

int __real_puts(const char *text);
EXPORT int __wrap_puts(const char *text) {
    READ(text, __real_strlen(text) + 1);
    return __real_puts(text);
}

int __real_fputs(const char *text, FILE *stream);
EXPORT int __wrap_fputs(const char *text, FILE *stream) {
    READ(text, __real_strlen(text) + 1);
    return __real_fputs(text, stream);
}

size_t __real_fwrite(const void *from, size_t size, size_t count, FILE *stream);
EXPORT size_t __wrap_fwrite(const void *from, size_t size, size_t count, FILE *stream) {
    READ(from, size * count);
    return __real_fwrite(from, size, count, stream);
}

size_t __real_fread(void *to, size_t size, size_t count, FILE *stream);
EXPORT size_t __wrap_fread(void *to, size_t size, size_t count, FILE *stream) {
    size_t result = __real_fread(to, size, count, stream);
    WRITTEN(to, size * result);
    return result;
}

char *__real_fgets(char *to, int size, FILE *stream);
EXPORT char *__wrap_fgets(char *to, int size, FILE *stream) {
    char *result = __real_fgets(to, size, stream);
    if (result) WRITTEN(to, __real_strlen(to) + 1);
    return result;
}

ssize_t __real_getline(char **to, size_t *size, FILE *stream);
EXPORT ssize_t __wrap_getline(char **to, size_t *size, FILE *stream) {
    ssize_t result = __real_getline(to, size, stream);
    WRITTEN(to, sizeof *to);
    WRITTEN(size, sizeof *size);
    if (result >= 0) WRITTEN(*to, result + 1);
    return result;
}

// All is read before, and written after: the comparison sees what is between.
void __real_qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *));
EXPORT void __wrap_qsort(void *base, size_t count, size_t size,
                         int (*compare)(const void *, const void *)) {
    READ(base, count * size);
    __real_qsort(base, count, size, compare);
    WRITTEN(base, count * size);
}

// A number from a text: what it reads ends behind the number.
#define NUMBER(type, name, parameters, arguments)                               \
    type __real_##name(const char *text, char **end parameters);                \
    EXPORT type __wrap_##name(const char *text, char **end parameters) {        \
        char *stop;                                                             \
        type result = __real_##name(text, &stop arguments);                     \
        READ(text, stop - text + 1);                                            \
        if (end) {                                                              \
            *end = stop;                                                        \
            WRITTEN(end, sizeof *end);                                          \
        }                                                                       \
        return result;                                                          \
    }

NUMBER(long, strtol, COMMA int base, COMMA base)
NUMBER(unsigned long, strtoul, COMMA int base, COMMA base)
NUMBER(long long, strtoll, COMMA int base, COMMA base)
NUMBER(unsigned long long, strtoull, COMMA int base, COMMA base)
NUMBER(double, strtod, , )

static long number(const char *text, uint32_t pc) {
    char *stop;
    long result = __real_strtol(text, &stop, 10);
    racetrap_library_range(LOAD, text, stop - text + 1, pc);
    return result;
}

EXPORT int __wrap_atoi(const char *text) { return (int)number(text, CALLER); }

EXPORT long __wrap_atol(const char *text) { return number(text, CALLER); }
