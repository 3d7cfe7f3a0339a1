// CMSIS names of the Cortex-M7's data cache, for programs that are recorded on the host.
//
// As in CMSIS, the functions by address take all lines that the range touches.
#ifndef CORE_CM7_H
#define CORE_CM7_H

#include <stdint.h>

#define __SCB_DCACHE_LINE_SIZE 32U

#ifdef __cplusplus
extern "C" {
#endif

void SCB_EnableDCache(void);
void SCB_DisableDCache(void);
void SCB_CleanDCache(void);
void SCB_InvalidateDCache(void);
void SCB_CleanInvalidateDCache(void);
void SCB_CleanDCache_by_Addr(volatile void *address, int32_t size);
void SCB_InvalidateDCache_by_Addr(volatile void *address, int32_t size);
void SCB_CleanInvalidateDCache_by_Addr(volatile void *address, int32_t size);

#ifdef __cplusplus
}
#endif

// The recorded CPU is in order: its barriers have nothing to do.
#define __DSB() ((void)0)
#define __DMB() ((void)0)
#define __ISB() ((void)0)

#endif
