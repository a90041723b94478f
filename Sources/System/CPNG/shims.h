#ifndef ALDABA_CPNG_H
#define ALDABA_CPNG_H
#include <png.h>
#include <string.h>

/// Pixels of 8 bits each of red, green, blue and opacity.
static const png_uint_32 aldaba_png_format = PNG_FORMAT_RGBA;

/// Makes the state of libpng's simplified interface ready to be filled in, for such pixels.
static inline void aldaba_png_begin(png_image *image) {
    memset(image, 0, sizeof *image);
    image->version = PNG_IMAGE_VERSION;
    image->format = aldaba_png_format;
}

/// No file of such a picture is larger than this.
static inline size_t aldaba_png_largest_file(const png_image *image) { return PNG_IMAGE_PNG_SIZE_MAX(*image); }
#endif
