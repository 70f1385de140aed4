// Pango and cairo as plain functions, since GObject's casts are macros and Swift need not read GLib's headers. This layer
// makes no decisions.
#ifndef VITRINE_TEXT_H
#define VITRINE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct vitrine_text vitrine_text;

/// A style: a size in pixels, and the width at which lines end in pixels, or -1.
typedef struct {
  double size;
  int width;
  bool is_bold, is_italic;
  /// 0 where the text begins, 1 in the middle, 2 where it ends.
  int alignment;
} vitrine_text_style;

/// Places of pixels, counted from the top left of the first line.
typedef struct {
  int x, y, width, height;
} vitrine_text_box;

/// Lays out a text in UTF-8 without NUL, to be used on this thread. `family` is a name of a font in UTF-8. Returns NULL if
/// the machine has no font.
vitrine_text *vitrine_text_create(const char *text, size_t length, const char *family, const vitrine_text_style *style);
void vitrine_text_destroy(vitrine_text *);
/// Returns the smallest box around all lines and all ink.
vitrine_text_box vitrine_text_get_box(vitrine_text *);

/// Draws the box in a colour of components from 0 to 1 into its `width` by `height` pixels: B, G, R, A in memory order,
/// premultiplied, four bytes a pixel, initially zero. Returns NULL, or a message.
const char *vitrine_text_draw(vitrine_text *, vitrine_text_box box, double red, double green, double blue, double alpha,
                              uint8_t *pixels);

#endif
