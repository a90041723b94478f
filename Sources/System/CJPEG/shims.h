#ifndef ALDABA_CJPEG_H
#define ALDABA_CJPEG_H
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <jpeglib.h>

/// The error handler of libjpeg, which must not return. Swift does not support longjmp(3), so each function here is one
/// whole use of the library.
struct aldaba_jpeg_errors {
    struct jpeg_error_mgr manager;
    jmp_buf place;
};

static inline void aldaba_jpeg_leave(j_common_ptr state) {
    longjmp(((struct aldaba_jpeg_errors *)state->err)->place, 1);
}

/// Prints nothing; libjpeg's own prints to standard error.
static inline void aldaba_jpeg_ignore(j_common_ptr state) { (void)state; }

static inline struct jpeg_error_mgr *aldaba_jpeg_begin(struct aldaba_jpeg_errors *errors) {
    jpeg_std_error(&errors->manager);
    errors->manager.error_exit = aldaba_jpeg_leave;
    errors->manager.output_message = aldaba_jpeg_ignore;
    return &errors->manager;
}

/// Reads the size of a picture and, where `pixels` is not null, the picture: 8 bits each of red, green, blue and
/// opacity, `width * height * 4` bytes of the size that was read before. Returns 0, or -1 for what cannot be read.
static inline int aldaba_jpeg_read(
    const uint8_t *bytes, size_t count, uint32_t *width, uint32_t *height, uint8_t *pixels) {
    struct jpeg_decompress_struct state;
    struct aldaba_jpeg_errors errors;
    state.err = aldaba_jpeg_begin(&errors);
    if (setjmp(errors.place)) {
        jpeg_destroy_decompress(&state);
        return -1;
    }
    jpeg_create_decompress(&state);
    jpeg_mem_src(&state, bytes, count);
    jpeg_read_header(&state, TRUE);
    if (pixels) {
        if (state.image_width != *width || state.image_height != *height) longjmp(errors.place, 1);
        state.out_color_space = JCS_EXT_RGBA;
        jpeg_start_decompress(&state);
        while (state.output_scanline < state.output_height) {
            JSAMPROW row = pixels + (size_t)state.output_scanline * *width * 4;
            jpeg_read_scanlines(&state, &row, 1);
        }
        jpeg_finish_decompress(&state);
    } else {
        *width = state.image_width;
        *height = state.image_height;
    }
    jpeg_destroy_decompress(&state);
    return 0;
}

/// Writes a picture of such pixels, without their opacity, at a quality from 1 to 100. Returns the file, which the
/// caller frees, or null.
static inline uint8_t *aldaba_jpeg_write(
    const uint8_t *pixels, uint32_t width, uint32_t height, int quality, size_t *count) {
    struct jpeg_compress_struct state;
    struct aldaba_jpeg_errors errors;
    if (width > JPEG_MAX_DIMENSION || height > JPEG_MAX_DIMENSION) return NULL;
    // What libjpeg changes while it may be left by longjmp(3): out of the function's own variables.
    struct { unsigned char *bytes; unsigned long count; } *file = calloc(1, sizeof *file);
    if (!file) return NULL;
    state.err = aldaba_jpeg_begin(&errors);
    if (setjmp(errors.place)) {
        // There was no memory. The file so far stays: libjpeg may have freed what its address was last said to be.
        jpeg_destroy_compress(&state);
        free(file);
        return NULL;
    }
    jpeg_create_compress(&state);
    jpeg_mem_dest(&state, &file->bytes, &file->count);
    state.image_width = width;
    state.image_height = height;
    state.input_components = 4;
    state.in_color_space = JCS_EXT_RGBX;
    jpeg_set_defaults(&state);
    jpeg_set_quality(&state, quality, TRUE);
    jpeg_start_compress(&state, TRUE);
    while (state.next_scanline < height) {
        JSAMPROW row = (JSAMPROW)(pixels + (size_t)state.next_scanline * width * 4);
        jpeg_write_scanlines(&state, &row, 1);
    }
    jpeg_finish_compress(&state);
    jpeg_destroy_compress(&state);
    uint8_t *bytes = file->bytes;
    *count = file->count;
    free(file);
    return bytes;
}
#endif
