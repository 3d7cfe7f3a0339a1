// Sobel filter: a row in, a row out with one pixel of border at each side, one sync at the end.
#include "program.h"
#include <vbx.h>

enum { BORDER = 1 };

static const int32_t horizontal[3] = {1, 0, -1}, smooth[3] = {1, 2, 1};

// A gradient at `x` of the middle one of three rows.
static int32_t gradient(int32_t *const rows[3], int x, const int32_t *down, const int32_t *across)
{
    int32_t total = 0;
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++)
            total += down[dy] * across[dx] * rows[dy][x + dx];
    return abs(total);
}

static void vector_gradient(int32_t *total, int32_t *product, int32_t *sum, int32_t *const rows[3],
                            const int32_t *down, const int32_t *across)
{
    vbx(SVW, VMOV, sum, 0, NULL);
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++) {
            vbx(SVW, VMUL, product, down[dy] * across[dx], rows[dy] + dx);
            vbx(VVW, VADD, sum, (intptr_t)sum, product);
        }
    vbx(SVW, VMOV, product, 0, NULL);
    vbx(VVW, VABSDIFF, sum, (intptr_t)sum, product);
    vbx(VVW, VADD, total, (intptr_t)total, sum);
}

int main(int count, char **arguments)
{
    int height = read_arguments(count, arguments, 4, 1080), width = height * 16 / 9, errors = 0;
    int outputs = width - 2;
    size_t row = width * sizeof(int32_t);
    int32_t *image = cached_memory(row * height), *scalar_out = cached_memory(row * height);
    int32_t *vector_out = shared_memory(row * height);
    int32_t *rows[4], *total = vbx_sp_malloc(row), *product = vbx_sp_malloc(row);
    int32_t *sum = vbx_sp_malloc(row), *border = vbx_sp_malloc(row);
    for (int i = 0; i < 4; i++)
        rows[i] = vbx_sp_malloc(row);

    for (int i = 0; i < width * height; i++)
        image[i] = noise(i) & 255;
    if (has("flush"))
        vbx_dcache_flush(image, row * height);
    vbx_set_vl(width);
    vbx(SVW, VMOV, border, BORDER, NULL);
    for (int y = 0; y < 3; y++)
        vbx_dma_to_vector(rows[y], image + y * width, row);
    vbx_dma_to_host(vector_out, border, row);
    vbx_set_vl(outputs);
    for (int y = 0; y < height - 2; y++) {
        int32_t *three[3] = {rows[y % 4], rows[(y + 1) % 4], rows[(y + 2) % 4]};
        int32_t *target = vector_out + (y + 1) * width;
        if (y + 3 < height)
            vbx_dma_to_vector(rows[(y + 3) % 4], image + (y + 3) * width, row);
        vbx(SVW, VMOV, total, 0, NULL);
        vector_gradient(total, product, sum, three, smooth, horizontal);
        vector_gradient(total, product, sum, three, horizontal, smooth);
        vbx_dma_to_host(target, border, sizeof(int32_t));
        vbx_dma_to_host(target + 1, total, outputs * sizeof(int32_t));
        vbx_dma_to_host(target + width - 1, border, sizeof(int32_t));
    }
    vbx_dma_to_host(vector_out + (height - 1) * width, border, row);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int is_border = !y || !x || y == height - 1 || x == width - 1, value = BORDER;
            if (!is_border) {
                int32_t *above = image + (y - 1) * width;
                int32_t *three[3] = {above, above + width, above + 2 * width};
                value = gradient(three, x - 1, smooth, horizontal) +
                        gradient(three, x - 1, horizontal, smooth);
            }
            scalar_out[y * width + x] = value;
        }
    if (has("sync"))
        vbx_sync();
    uint32_t found = checksum(vector_out, width * height);
    for (int i = 0; i < width * height; i++)
        errors += vector_out[i] != scalar_out[i];
    return result("mtx_sobel", errors, found);
}
