// Xilinx' names for the data cache of a Zynq's Cortex-A9, for programs recorded on the host.
//
// As there, an invalidation of a range flushes the first and the last line if the range covers
// them in part only, so that neighbours lose nothing.
#ifndef XIL_CACHE_H
#define XIL_CACHE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void Xil_DCacheEnable(void);
void Xil_DCacheDisable(void);
void Xil_DCacheFlush(void);
void Xil_DCacheInvalidate(void);
void Xil_DCacheFlushRange(intptr_t address, uint32_t size);
void Xil_DCacheInvalidateRange(intptr_t address, uint32_t size);
void Xil_DCacheFlushLine(intptr_t address);
void Xil_DCacheInvalidateLine(intptr_t address);

#ifdef __cplusplus
}
#endif

#endif
