// A vector engine with a scratchpad, in the manner of VectorBlox MXP.
//
// The CPU queues DMA and vector instructions; the engine takes them in order, at its own time,
// until vbx_sync.  Memory from vbx_shared_malloc is not cached.
//
// Ref: Young (UBC 2020) Sections 2.2 and 4.1.
#ifndef VBX_H
#define VBX_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void vbx_sp_t;

// Elements are signed words (W), halfwords (H) or bytes (B); the first operand is a vector (V) or
// a scalar (S).
typedef enum { VVW, SVW, VVH, SVH, VVB, SVB } vbx_mode;
typedef enum {
    VMOV,    // a
    VADD, VSUB, VMUL, VAND, VOR, VXOR,
    VSHL,    // b << a
    VSHR,    // b >> a, arithmetic
    VMIN, VMAX, VABSDIFF,
    VDIV,    // b / a; all ones where a is 0
    VSQRT,   // floor of the square root of a, of unsigned elements
    VMULFXP, // a * b in fixed point with 16 fractional bits
} vbx_instruction;

void *vbx_shared_malloc(size_t size);
void vbx_shared_free(void *address);
vbx_sp_t *vbx_sp_malloc(size_t size);
void vbx_sp_free(void);

void vbx_dma_to_vector(vbx_sp_t *to, const volatile void *from, size_t size);
void vbx_dma_to_host(volatile void *to, const vbx_sp_t *from, size_t size);
void vbx_dma_to_vector_2D(vbx_sp_t *to, const volatile void *from, size_t size, size_t rows,
                          size_t to_stride, size_t from_stride);
void vbx_dma_to_host_2D(volatile void *to, const vbx_sp_t *from, size_t size, size_t rows,
                        size_t to_stride, size_t from_stride);

// Vector length in elements, and rows with their strides in bytes, for later instructions.
void vbx_set_vl(int elements);
void vbx_set_2D(int rows, int target_stride, int a_stride, int b_stride);

// target = a OP b, element by element; the second form repeats it for all rows.
void vbx(vbx_mode mode, vbx_instruction instruction, vbx_sp_t *target, intptr_t a,
         const vbx_sp_t *b);
void vbx_2D(vbx_mode mode, vbx_instruction instruction, vbx_sp_t *target, intptr_t a,
            const vbx_sp_t *b);
// The sum of the elements of a OP b, into one element.
void vbx_acc(vbx_mode mode, vbx_instruction instruction, vbx_sp_t *target, intptr_t a,
             const vbx_sp_t *b);

void vbx_sync(void);
void vbx_dcache_flush(const volatile void *address, size_t size);
void vbx_dcache_flush_all(void);

#ifdef __cplusplus
}
#endif

#endif
