#include "vitrine_svg.h"

#include <stdio.h>

#include <librsvg/rsvg.h>

#include "../../System/opened.h"

// Those of cairo and GLib are found in the libraries that librsvg needs.
#define VITRINE_SVG_FUNCTIONS(F) \
  F(cairo_create) F(cairo_destroy) F(cairo_image_surface_create_for_data) F(cairo_scale) F(cairo_status) \
  F(cairo_status_to_string) F(cairo_surface_destroy) F(cairo_surface_finish) F(cairo_translate) \
  F(rsvg_handle_get_intrinsic_dimensions) F(rsvg_handle_new_from_data) \
  F(rsvg_handle_render_document) F(rsvg_handle_set_dpi)
// GLib's headers call these already.
#define VITRINE_GLIB_FUNCTIONS(F) F(g_error_free) F(g_object_unref)

#define ALL_FUNCTIONS(F) VITRINE_SVG_FUNCTIONS(F) VITRINE_GLIB_FUNCTIONS(F)

VITRINE_SVG_FUNCTIONS(VITRINE_RENAMED)
void vitrine_g_error_free(GError *error);
void vitrine_g_object_unref(gpointer object);
VITRINE_LIBRARY(ALL_FUNCTIONS, vitrine_svg_open, "librsvg-2.so.2")

static void take_error(GError *error, char *message, size_t size) {
  snprintf(message, size, "%s", error ? error->message : "unknown error of librsvg");
  if (error) vitrine_g_error_free(error);
}

vitrine_svg *vitrine_svg_create(const uint8_t *data, size_t length, char *message, size_t message_size) {
  GError *error = NULL;
  RsvgHandle *handle = rsvg_handle_new_from_data(data, length, &error);
  if (!handle) {
    take_error(error, message, message_size);
    return NULL;
  }
  rsvg_handle_set_dpi(handle, 96);
  return (vitrine_svg *)handle;
}

void vitrine_svg_destroy(vitrine_svg *svg) {
  if (svg) vitrine_g_object_unref(svg);
}

static double pixels(RsvgLength length) {
  switch (length.unit) {
    case RSVG_UNIT_PX: return length.length;
    case RSVG_UNIT_IN: return length.length * 96;
    case RSVG_UNIT_CM: return length.length * 96 / 2.54;
    case RSVG_UNIT_MM: return length.length * 96 / 25.4;
    case RSVG_UNIT_PT: return length.length * 96 / 72;
    case RSVG_UNIT_PC: return length.length * 96 / 6;
    default: return -1;
  }
}

void vitrine_svg_get_size(vitrine_svg *svg, vitrine_svg_size *out) {
  gboolean has_width, has_height, has_view;
  RsvgLength width, height;
  RsvgRectangle view;
  rsvg_handle_get_intrinsic_dimensions((RsvgHandle *)svg, &has_width, &width, &has_height, &height, &has_view, &view);
  out->width = has_width ? pixels(width) : -1;
  out->height = has_height ? pixels(height) : -1;
  out->view_width = has_view ? view.width : -1;
  out->view_height = has_view ? view.height : -1;
}

int vitrine_svg_draw(vitrine_svg *svg, vitrine_svg_part part, uint8_t *memory, int width, int height, char *message,
                     size_t message_size) {
  cairo_surface_t *surface = cairo_image_surface_create_for_data(memory, CAIRO_FORMAT_ARGB32, width, height, width * 4);
  cairo_t *context = cairo_create(surface);
  cairo_translate(context, -part.x, -part.y);
  cairo_scale(context, part.scale_x, part.scale_y);
  RsvgRectangle viewport = {0, 0, part.from_width, part.from_height};
  GError *error = NULL;
  int status = 0;
  if (!rsvg_handle_render_document((RsvgHandle *)svg, context, &viewport, &error)) {
    take_error(error, message, message_size);
    status = -1;
  } else if (cairo_status(context) != CAIRO_STATUS_SUCCESS) {
    snprintf(message, message_size, "%s", cairo_status_to_string(cairo_status(context)));
    status = -1;
  }
  cairo_destroy(context);
  cairo_surface_finish(surface);
  cairo_surface_destroy(surface);
  return status;
}
