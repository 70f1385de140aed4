#include "vitrine_gtk.h"

#include <dlfcn.h>
#include <libintl.h>
#include <malloc.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <tmmintrin.h>
#endif

VitrineValueKind vitrine_gtk_kind(GType type) {
  switch (G_TYPE_FUNDAMENTAL(type)) {
  case G_TYPE_CHAR:
  case G_TYPE_UCHAR:
  case G_TYPE_INT:
  case G_TYPE_UINT:
  case G_TYPE_LONG:
  case G_TYPE_ULONG:
  case G_TYPE_INT64:
  case G_TYPE_UINT64:
  case G_TYPE_ENUM:
  case G_TYPE_FLAGS: return VITRINE_VALUE_INTEGER;
  case G_TYPE_FLOAT:
  case G_TYPE_DOUBLE: return VITRINE_VALUE_REAL;
  case G_TYPE_BOOLEAN: return VITRINE_VALUE_BOOLEAN;
  case G_TYPE_STRING: return VITRINE_VALUE_STRING;
  default: {
    GTypeValueTable *table = g_type_value_table_peek(type);
    return table && table->value_peek_pointer ? VITRINE_VALUE_POINTER : VITRINE_VALUE_OTHER;
  }
  }
}

gint64 vitrine_gtk_integer(const GValue *value) {
  switch (G_TYPE_FUNDAMENTAL(G_VALUE_TYPE(value))) {
  case G_TYPE_CHAR: return g_value_get_schar(value);
  case G_TYPE_UCHAR: return g_value_get_uchar(value);
  case G_TYPE_INT: return g_value_get_int(value);
  case G_TYPE_UINT: return g_value_get_uint(value);
  case G_TYPE_LONG: return g_value_get_long(value);
  case G_TYPE_ULONG: return (gint64)g_value_get_ulong(value);
  case G_TYPE_INT64: return g_value_get_int64(value);
  case G_TYPE_UINT64: return (gint64)g_value_get_uint64(value);
  case G_TYPE_ENUM: return g_value_get_enum(value);
  case G_TYPE_FLAGS: return g_value_get_flags(value);
  default: return 0;
  }
}

void vitrine_gtk_set_integer(GValue *value, gint64 number) {
  switch (G_TYPE_FUNDAMENTAL(G_VALUE_TYPE(value))) {
  case G_TYPE_CHAR: g_value_set_schar(value, (gint8)number); break;
  case G_TYPE_UCHAR: g_value_set_uchar(value, (guchar)number); break;
  case G_TYPE_INT: g_value_set_int(value, (gint)number); break;
  case G_TYPE_UINT: g_value_set_uint(value, (guint)number); break;
  case G_TYPE_LONG: g_value_set_long(value, (glong)number); break;
  case G_TYPE_ULONG: g_value_set_ulong(value, (gulong)number); break;
  case G_TYPE_INT64: g_value_set_int64(value, number); break;
  case G_TYPE_UINT64: g_value_set_uint64(value, (guint64)number); break;
  case G_TYPE_ENUM: g_value_set_enum(value, (gint)number); break;
  case G_TYPE_FLAGS: g_value_set_flags(value, (guint)number); break;
  default: break;
  }
}

double vitrine_gtk_real(const GValue *value) {
  return G_VALUE_HOLDS_FLOAT(value) ? g_value_get_float(value) : g_value_get_double(value);
}

void vitrine_gtk_set_real(GValue *value, double number) {
  if (G_VALUE_HOLDS_FLOAT(value)) g_value_set_float(value, (float)number);
  else g_value_set_double(value, number);
}

void vitrine_gtk_set_pointer(GValue *value, gpointer pointer) {
  switch (G_TYPE_FUNDAMENTAL(G_VALUE_TYPE(value))) {
  case G_TYPE_POINTER: g_value_set_pointer(value, pointer); break;
  case G_TYPE_BOXED: g_value_set_boxed(value, pointer); break;
  case G_TYPE_VARIANT: g_value_set_variant(value, pointer); break;
  default: g_value_set_instance(value, pointer); break;
  }
}

GtkWindow *vitrine_gtk_window(gpointer object) { return GTK_WINDOW(object); }
GApplication *vitrine_gtk_application(gpointer object) { return G_APPLICATION(object); }
GtkBox *vitrine_gtk_box(gpointer object) { return GTK_BOX(object); }
GObject *vitrine_gtk_object(gpointer object) { return G_OBJECT(object); }
// Looked up once: every callback of a widget asks for it. On the main thread only.
GQuark vitrine_gtk_quark(void) {
  static GQuark quark = 0;
  if (!quark) quark = g_quark_from_static_string("vitrine");
  return quark;
}

GType vitrine_gtk_type(gconstpointer instance) { return G_TYPE_FROM_INSTANCE(instance); }
GType vitrine_gtk_no_type(void) { return G_TYPE_NONE; }

GParamSpec *vitrine_gtk_property(gpointer object, const char *name) {
  return g_object_class_find_property(G_OBJECT_GET_CLASS(object), name);
}

GtkWidget *vitrine_gtk_new_widget(GType type, const char *css_name) {
  return GTK_WIDGET(g_object_new(type, "css-name", css_name, NULL));
}

GtkWidgetClass *vitrine_gtk_parent_class(void) { return GTK_WIDGET_CLASS(g_type_class_peek(GTK_TYPE_WIDGET)); }

VitrineScale vitrine_gtk_surface_scale(void) { return (VitrineScale)dlsym(RTLD_DEFAULT, "gdk_surface_get_scale"); }

double vitrine_gtk_call_scale(VitrineScale scale, GdkSurface *surface) { return scale(surface); }

VitrineScaledTexture vitrine_gtk_scaled_texture(void) {
  return (VitrineScaledTexture)dlsym(RTLD_DEFAULT, "gtk_snapshot_append_scaled_texture");
}

void vitrine_gtk_call_nearest(
    VitrineScaledTexture append, GtkSnapshot *snapshot, GdkTexture *texture, const graphene_rect_t *bounds) {
  // GSK_SCALING_FILTER_NEAREST, which headers before 4.10 lack.
  append(snapshot, texture, 1, bounds);
}

gboolean vitrine_gtk_has_color_states(void) { return dlsym(RTLD_DEFAULT, "gdk_memory_texture_builder_set_color_state") != NULL; }

/// Calls a function of the GTK that runs, which headers before 4.16 lack. All of them appeared together.
#define CALL(result, name, arguments, ...) ((result(*) arguments)dlsym(RTLD_DEFAULT, #name))(__VA_ARGS__)

GdkTexture *vitrine_gtk_high_range_texture(GBytes *bytes, int width, int height) {
  if (!vitrine_gtk_has_color_states()) return NULL;
  // ITU-T H.273: primaries 12 are those of Display P3, curve 8 is none, matrix 0 is RGB.
  GObject *parameters = CALL(GObject *, gdk_cicp_params_new, (void));
  CALL(void, gdk_cicp_params_set_color_primaries, (GObject *, guint), parameters, 12);
  CALL(void, gdk_cicp_params_set_transfer_function, (GObject *, guint), parameters, 8);
  CALL(void, gdk_cicp_params_set_matrix_coefficients, (GObject *, guint), parameters, 0);
  // GDK_CICP_RANGE_FULL.
  CALL(void, gdk_cicp_params_set_range, (GObject *, int), parameters, 1);
  gpointer state = CALL(gpointer, gdk_cicp_params_build_color_state, (GObject *, GError **), parameters, NULL);
  g_object_unref(parameters);
  if (!state) return NULL;
  GObject *builder = CALL(GObject *, gdk_memory_texture_builder_new, (void));
  CALL(void, gdk_memory_texture_builder_set_bytes, (GObject *, GBytes *), builder, bytes);
  CALL(void, gdk_memory_texture_builder_set_stride, (GObject *, gsize), builder, 8 * (gsize)width);
  CALL(void, gdk_memory_texture_builder_set_width, (GObject *, int), builder, width);
  CALL(void, gdk_memory_texture_builder_set_height, (GObject *, int), builder, height);
  CALL(void, gdk_memory_texture_builder_set_format, (GObject *, int), builder, GDK_MEMORY_R16G16B16A16_FLOAT_PREMULTIPLIED);
  CALL(void, gdk_memory_texture_builder_set_color_state, (GObject *, gpointer), builder, state);
  GdkTexture *texture = CALL(GdkTexture *, gdk_memory_texture_builder_build, (GObject *), builder);
  g_object_unref(builder);
  CALL(void, gdk_color_state_unref, (gpointer), state);
  return texture;
}

GtkWidget *vitrine_gtk_new_icon(void) {
  return GTK_WIDGET(g_object_new(GTK_TYPE_IMAGE, "accessible-role", GTK_ACCESSIBLE_ROLE_PRESENTATION, NULL));
}

gboolean vitrine_gtk_animations_enabled(GtkWidget *widget) {
  gboolean enabled = TRUE;
  g_object_get(gtk_widget_get_settings(widget), "gtk-enable-animations", &enabled, NULL);
  return enabled;
}

void vitrine_gtk_set_label(GtkWidget *widget, const char *text) {
  gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
}

void vitrine_gtk_set_description(GtkWidget *widget, const char *text) {
  gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
}

void vitrine_gtk_set_busy(GtkWidget *widget, gboolean busy) {
  gtk_accessible_update_state(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_STATE_BUSY, busy, -1);
}

void vitrine_gtk_prefer_dark(void) {
  g_object_set(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", TRUE, NULL);
}

gboolean vitrine_gtk_set_child(gpointer parent, GtkWidget *child) {
  GParamSpec *property = vitrine_gtk_property(parent, "child");
  if (!property || !(property->flags & G_PARAM_WRITABLE) || property->flags & G_PARAM_CONSTRUCT_ONLY) return FALSE;
  if (!g_type_is_a(G_OBJECT_TYPE(child), property->value_type)) return FALSE;
  g_object_set(parent, "child", child, NULL);
  return TRUE;
}

// gtk_css_provider_load_from_data is deprecated since 4.12, but its successor is newer than the minimum version.
void vitrine_gtk_load_css(GtkCssProvider *provider, const char *css) {
#if GTK_CHECK_VERSION(4, 12, 0)
  gtk_css_provider_load_from_string(provider, css);
#else
  gtk_css_provider_load_from_data(provider, css, -1);
#endif
}

// gtk_style_context_get_color is deprecated since 4.10, but its successor is newer than the minimum version.
void vitrine_gtk_color(GtkWidget *widget, GdkRGBA *color) {
#if GTK_CHECK_VERSION(4, 10, 0)
  gtk_widget_get_color(widget, color);
#else
  gtk_style_context_get_color(gtk_widget_get_style_context(widget), color);
#endif
}

gboolean vitrine_gtk_is_software(GskRenderer *renderer) { return GSK_IS_CAIRO_RENDERER(renderer); }

#if defined(__x86_64__)
// Returns how many pixels of a row it has copied: all but the last few, since it writes four bytes more than it copies.
__attribute__((target("ssse3"))) static size_t drop_alpha_by_four(const uint8_t *in, uint8_t *out, size_t width) {
  const __m128i order = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
  size_t x = 0;
  for (; x + 6 <= width; x += 4) {
    __m128i four = _mm_loadu_si128((const __m128i *)(in + 4 * x));
    _mm_storeu_si128((__m128i *)(out + 3 * x), _mm_shuffle_epi8(four, order));
  }
  return x;
}
#endif

void vitrine_gtk_drop_alpha(const void *from, size_t stride, void *to, size_t width, size_t height) {
  uint8_t *out = to;
  for (size_t y = 0; y < height; y++, out += 3 * width) {
    const uint8_t *in = (const uint8_t *)from + y * stride;
    size_t x = 0;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("ssse3")) x = drop_alpha_by_four(in, out, width);
#endif
    for (; x < width; x++) memcpy(out + 3 * x, in + 4 * x, 3);
  }
}

void vitrine_gtk_trim_heap(void) { malloc_trim(0); }
void vitrine_gtk_limit_heaps(int count) { mallopt(M_ARENA_MAX, count); }

// ---- Translations ----------------------------------------------------------------------------------------------------------

void vitrine_gtk_bind_translations(const char *domain, const char *folder) {
  bindtextdomain(domain, folder);
  bind_textdomain_codeset(domain, "UTF-8");
}
