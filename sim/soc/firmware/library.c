// The part of the C library that the programs use.
#include "target.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTROL(name) REGISTER(CONTROL_BASE + CONTROL_##name)

extern unsigned char heap_begin[], heap_end[];
FILE *const stderr = 0;
int errno;

void *memcpy(void *to, const void *from, size_t size) {
    size_t at = 0;
    if (((uintptr_t)to | (uintptr_t)from) % 4 == 0)
        for (; at + 4 <= size; at += 4) REGISTER((uintptr_t)to + at) = REGISTER((uintptr_t)from + at);
    for (; at < size; at++) ((volatile unsigned char *)to)[at] = ((const volatile unsigned char *)from)[at];
    return to;
}

void *memset(void *to, int byte, size_t size) {
    for (size_t at = 0; at < size; at++) ((volatile unsigned char *)to)[at] = (unsigned char)byte;
    return to;
}

void *__real_memcpy(void *to, const void *from, size_t size) { return memcpy(to, from, size); }
void *__real_memset(void *to, int byte, size_t size) { return memset(to, byte, size); }

int strcmp(const char *one, const char *other) {
    while (*one && *one == *other) one++, other++;
    return (unsigned char)*one - (unsigned char)*other;
}

int atoi(const char *text) {
    int value = 0;
    while (*text >= '0' && *text <= '9') value = 10 * value + *text++ - '0';
    return value;
}

int abs(int value) { return value < 0 ? -value : value; }

long lrint(double value) {
    // To the nearest, and of two the even one.
    long whole = (long)value;
    double rest = value - (double)whole;
    if (rest > 0.5 || (rest == 0.5 && whole % 2)) return whole + 1;
    if (rest < -0.5 || (rest == -0.5 && whole % 2)) return whole - 1;
    return whole;
}

// Blocks lie as the recorder lays them: a header in front of each.
static uintptr_t next;

void *aligned_alloc(size_t unit, size_t size) {
    if (!next) next = (uintptr_t)heap_begin + HEAP_OFFSET;
    if (unit < HEAP_ALIGNMENT) unit = HEAP_ALIGNMENT;
    uintptr_t place = (next + HEAP_PADDING + unit - 1) / unit * unit;
    size = (size + !size + HEAP_ALIGNMENT - 1) / HEAP_ALIGNMENT * HEAP_ALIGNMENT;
    if (place > (uintptr_t)heap_end || size > (uintptr_t)heap_end - place) return NULL;
    next = place + size;
    return (void *)place;
}

void *malloc(size_t size) { return aligned_alloc(0, size); }
void free(void *address) { (void)address; }
size_t malloc_usable_size(void *address) { return (void)address, 0; }

_Noreturn void exit(int status) {
    for (;;) CONTROL(EXIT) = (uint32_t)status;
}

static void put(char letter) { CONTROL(CONSOLE) = (uint32_t)letter; }

static void put_number(uint32_t value, unsigned base, int width, char fill) {
    char digits[10];
    int count = 0;
    do digits[count++] = "0123456789abcdef"[value % base];
    while (value /= base);
    for (; width > count; width--) put(fill);
    while (count) put(digits[--count]);
}

static void print(const char *format, va_list list) {
    for (; *format; format++) {
        if (*format != '%') {
            put(*format);
            continue;
        }
        char fill = ' ';
        int width = 0;
        if (*++format == '0') fill = *format++;
        while (*format >= '0' && *format <= '9') width = 10 * width + *format++ - '0';
        while (*format == 'l' || *format == 'z') format++;
        if (*format == 's') {
            const char *text = va_arg(list, const char *);
            while (*text) put(*text++);
        } else if (*format == 'd') {
            int32_t value = va_arg(list, int32_t);
            if (value < 0) put('-');
            put_number(value < 0 ? -(uint32_t)value : (uint32_t)value, 10, width, fill);
        } else {
            put_number(va_arg(list, uint32_t), *format == 'x' ? 16 : 10, width, fill);
        }
    }
}

int printf(const char *format, ...) {
    va_list list;
    va_start(list, format);
    print(format, list);
    va_end(list);
    return 0;
}

int fprintf(FILE *file, const char *format, ...) {
    (void)file;
    va_list list;
    va_start(list, format);
    print(format, list);
    va_end(list);
    return 0;
}

_Noreturn void racetrap_die(const char *format, ...) {
    va_list list;
    va_start(list, format);
    print(format, list);
    va_end(list);
    put('\n');
    exit(125);
}
