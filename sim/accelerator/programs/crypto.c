// Encryption in place: an engine reads a message and writes it back to the same bytes.
#include "program.h"
#include <xil_cache.h>

enum { ENGINE = 0, MESSAGE = 256 };

static uint8_t message[MESSAGE] __attribute__((aligned(LINE)));
static uint8_t internal[MESSAGE];

static void encrypt(void *key)
{
    uint8_t last = *(uint8_t *)key;
    for (int i = 0; i < MESSAGE; i++)
        last = internal[i] = (uint8_t)((internal[i] ^ last) * 167 + 13);
}

int main(int count, char **arguments)
{
    int messages = read_arguments(count, arguments, 2, 1 << 20);
    uint32_t sum = 0;

    for (int number = 0; number < messages; number++) {
        uint8_t key = (uint8_t)noise(number);
        for (int i = 0; i < MESSAGE; i++)
            message[i] = (uint8_t)(number + i);
        if (has("flush"))
            Xil_DCacheFlushRange((intptr_t)message, MESSAGE);
        racetrap_dma_read(ENGINE, message, internal, MESSAGE);
        racetrap_device_run(ENGINE, encrypt, &key, sizeof key);
        racetrap_dma_write(ENGINE, message, internal, MESSAGE);
        if (!has("peek"))
            // A look at the plain text fills the line again; volatile, or the compiler may look in
            // any case.
            sum += *(volatile uint8_t *)message;
        if (has("wait"))
            racetrap_sync(ENGINE);
        if (has("invalidate"))
            Xil_DCacheInvalidateRange((intptr_t)message, MESSAGE);
        for (int i = 0; i < MESSAGE; i++)
            sum = (sum ^ message[i]) * 0x01000193;
    }
    racetrap_sync(ENGINE);
    return result("crypto", 0, sum);
}
