#include "vitrine_text.h"

#include <pango/pangocairo.h>

vitrine_text *vitrine_text_create(const char *text, size_t length, const char *family, const vitrine_text_style *style) {
  PangoContext *context = pango_font_map_create_context(pango_cairo_font_map_get_default());
  // The same pixels whatever the settings of a desktop are.
  cairo_font_options_t *options = cairo_font_options_create();
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  pango_cairo_context_set_font_options(context, options);
  cairo_font_options_destroy(options);
  pango_context_set_round_glyph_positions(context, FALSE);

  PangoFontDescription *font = pango_font_description_new();
  pango_font_description_set_family(font, family);
  pango_font_description_set_absolute_size(font, style->size * PANGO_SCALE);
  if (style->is_bold) pango_font_description_set_weight(font, PANGO_WEIGHT_BOLD);
  if (style->is_italic) pango_font_description_set_style(font, PANGO_STYLE_ITALIC);

  PangoFont *loaded = pango_context_load_font(context, font);
  if (!loaded) {
    pango_font_description_free(font);
    g_object_unref(context);
    return NULL;
  }
  g_object_unref(loaded);

  PangoLayout *layout = pango_layout_new(context);
  pango_layout_set_font_description(layout, font);
  pango_layout_set_text(layout, text, (int)length);
  // PANGO_ALIGN_LEFT is where the text begins: Pango exchanges left and right in paragraphs from right to left.
  PangoAlignment alignments[] = {PANGO_ALIGN_LEFT, PANGO_ALIGN_CENTER, PANGO_ALIGN_RIGHT};
  pango_layout_set_alignment(layout, alignments[style->alignment]);
  pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
  pango_layout_set_width(layout, style->width < 0 ? -1 : style->width * PANGO_SCALE);
  pango_font_description_free(font);
  g_object_unref(context);
  return (vitrine_text *)layout;
}

void vitrine_text_destroy(vitrine_text *text) { g_object_unref(text); }

vitrine_text_box vitrine_text_get_box(vitrine_text *text) {
  PangoRectangle ink, lines;
  pango_layout_get_extents((PangoLayout *)text, &ink, &lines);
  int left = PANGO_PIXELS_FLOOR(MIN(ink.x, lines.x)), top = PANGO_PIXELS_FLOOR(MIN(ink.y, lines.y));
  int right = PANGO_PIXELS_CEIL(MAX(ink.x + ink.width, lines.x + lines.width));
  int bottom = PANGO_PIXELS_CEIL(MAX(ink.y + ink.height, lines.y + lines.height));
  return (vitrine_text_box){left, top, right - left, bottom - top};
}

const char *vitrine_text_draw(vitrine_text *text, vitrine_text_box box, double red, double green, double blue, double alpha,
                              uint8_t *pixels) {
  cairo_surface_t *surface =
      cairo_image_surface_create_for_data(pixels, CAIRO_FORMAT_ARGB32, box.width, box.height, box.width * 4);
  cairo_t *context = cairo_create(surface);
  cairo_translate(context, -box.x, -box.y);
  cairo_set_source_rgba(context, red, green, blue, alpha);
  pango_cairo_show_layout(context, (PangoLayout *)text);
  cairo_status_t status = cairo_status(context);
  cairo_destroy(context);
  cairo_surface_finish(surface);
  cairo_surface_destroy(surface);
  return status == CAIRO_STATUS_SUCCESS ? NULL : cairo_status_to_string(status);
}
