// librsvg as plain functions, since GObject's casts are macros and Swift need not read GLib's headers. This layer makes
// no decisions.
#ifndef VITRINE_SVG_H
#define VITRINE_SVG_H

#include <stddef.h>
#include <stdint.h>

typedef struct vitrine_svg vitrine_svg;

/// Lengths in pixels of 1/96 inch, negative if the file has none.
typedef struct {
  double width, height;
  double view_width, view_height;
} vitrine_svg_size;

/// Parses a copy of a document. It has no base URL, so nothing outside it is ever loaded. Returns NULL and a message if
/// it is not well-formed.
vitrine_svg *vitrine_svg_create(const uint8_t *data, size_t length, char *message, size_t message_size);
void vitrine_svg_destroy(vitrine_svg *);
void vitrine_svg_get_size(vitrine_svg *, vitrine_svg_size *);
/// Draws an image of `from_width` by `from_height` into `width` by `height` pixels: B, G, R, A in memory order,
/// premultiplied, four bytes a pixel, initially zero. Returns 0, or -1 and a message.
int vitrine_svg_draw(vitrine_svg *, double from_width, double from_height, uint8_t *pixels, int width, int height, char *message,
                     size_t message_size);

#endif
