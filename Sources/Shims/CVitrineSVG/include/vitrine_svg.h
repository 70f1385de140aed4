// librsvg as plain functions, since GObject's casts are macros and Swift need not read GLib's headers. This layer makes
// no decisions.
#ifndef VITRINE_SVG_H
#define VITRINE_SVG_H

#include <stddef.h>
#include <stdint.h>

/// Opens librsvg, once and before any other function is called. Returns NULL, or why it cannot be opened.
const char *vitrine_svg_open(void);

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
/// A part of an image of `from_width` by `from_height`, enlarged by the scales: what begins at `x`, `y` in pixels.
typedef struct {
  double from_width, from_height;
  double scale_x, scale_y;
  double x, y;
} vitrine_svg_part;

/// Draws a part of an image into `width` by `height` pixels: B, G, R, A in memory order, premultiplied, four bytes a
/// pixel, initially zero. Returns 0, or -1 and a message.
int vitrine_svg_draw(vitrine_svg *, vitrine_svg_part part, uint8_t *pixels, int width, int height, char *message,
                     size_t message_size);

#endif
