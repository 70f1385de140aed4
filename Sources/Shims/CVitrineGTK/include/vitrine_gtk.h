// GTK's macros, casts and variadic functions as plain functions, and its version-dependent features. This layer makes
// no decisions.
#ifndef VITRINE_GTK_H
#define VITRINE_GTK_H

#include <glib-unix.h>
#include <gtk/gtk.h>

// ---- The main queue of libdispatch, with its functions for other run loops ----------------------------------

int _dispatch_get_main_queue_handle_4CF(void);
void _dispatch_main_queue_callback_4CF(void *message);

// ---- Signals -----------------------------------------------------------------------------------------------------------

/// What a value of a type is read and set as.
typedef enum {
  VITRINE_VALUE_OTHER,
  VITRINE_VALUE_INTEGER,
  VITRINE_VALUE_REAL,
  VITRINE_VALUE_BOOLEAN,
  VITRINE_VALUE_STRING,
  /// Objects, boxed structures, parameter specifications, variants and plain pointers.
  VITRINE_VALUE_POINTER,
} VitrineValueKind;

VitrineValueKind vitrine_gtk_kind(GType);
/// Reads an integer, enumeration or flags; unsigned 64-bit numbers keep their bits.
gint64 vitrine_gtk_integer(const GValue *);
void vitrine_gtk_set_integer(GValue *, gint64);
double vitrine_gtk_real(const GValue *);
void vitrine_gtk_set_real(GValue *, double);
/// Sets a pointer; the value takes a reference or a copy if its type has them.
void vitrine_gtk_set_pointer(GValue *, gpointer);

// ---- Casts -------------------------------------------------------------------------------------------------------------

GtkWindow *vitrine_gtk_window(gpointer);
GApplication *vitrine_gtk_application(gpointer);
GtkBox *vitrine_gtk_box(gpointer);
GObject *vitrine_gtk_object(gpointer);
GQuark vitrine_gtk_quark(void);
GType vitrine_gtk_type(gconstpointer instance);
GType vitrine_gtk_no_type(void);
GParamSpec *vitrine_gtk_property(gpointer object, const char *name);

// ---- Widgets -----------------------------------------------------------------------------------------------------------

/// Creates an object of a widget class, with its own name in style sheets.
GtkWidget *vitrine_gtk_new_widget(GType, const char *css_name);
/// Returns the parent class of ours.
GtkWidgetClass *vitrine_gtk_parent_class(void);
/// Creates an image that screen readers pass over.
GtkWidget *vitrine_gtk_new_icon(void);
/// `gdk_surface_get_scale` of the GTK that runs; `NULL` before 4.12, whose scales are whole numbers.
typedef double (*VitrineScale)(GdkSurface *);
VitrineScale vitrine_gtk_surface_scale(void);
double vitrine_gtk_call_scale(VitrineScale, GdkSurface *);
/// `gtk_snapshot_append_scaled_texture` of the GTK that runs; `NULL` before 4.10, which enlarges with smoothing only.
typedef void (*VitrineScaledTexture)(GtkSnapshot *, GdkTexture *, int filter, const graphene_rect_t *);
VitrineScaledTexture vitrine_gtk_scaled_texture(void);
/// Draws a texture without smoothing.
void vitrine_gtk_call_nearest(VitrineScaledTexture, GtkSnapshot *, GdkTexture *, const graphene_rect_t *);
/// Returns true if the GTK that runs has colour states, as it has from 4.16 on.
gboolean vitrine_gtk_has_color_states(void);
/// Makes a texture of linear light with the primaries of Display P3, four half floats a pixel, multiplied by alpha; `NULL`
/// without colour states. GDK takes a reference to the bytes.
GdkTexture *vitrine_gtk_high_range_texture(GBytes *, int width, int height);
gboolean vitrine_gtk_animations_enabled(GtkWidget *);
void vitrine_gtk_set_label(GtkWidget *, const char *text);
void vitrine_gtk_set_description(GtkWidget *, const char *text);
void vitrine_gtk_set_busy(GtkWidget *, gboolean);
void vitrine_gtk_prefer_dark(void);
/// Returns the colour of a widget's text.
void vitrine_gtk_color(GtkWidget *, GdkRGBA *);
/// Sets the property "child" of a widget that holds one child; returns false if there is no such property.
gboolean vitrine_gtk_set_child(gpointer parent, GtkWidget *child);
void vitrine_gtk_load_css(GtkCssProvider *, const char *);
/// Returns true if a `GskRenderer` draws in software.
gboolean vitrine_gtk_is_software(GskRenderer *);
/// Copies pixels of four bytes without the last one of each, from rows of `stride` bytes to rows without gaps.
void vitrine_gtk_drop_alpha(const void *from, size_t stride, void *to, size_t width, size_t height);

// ---- Translations ------------------------------------------------------------------------------------------------------

/// Says where the translations of a program are: `FOLDER/LANGUAGE/LC_MESSAGES/DOMAIN.mo`.
void vitrine_gtk_bind_translations(const char *domain, const char *folder);

// ---- Missing from Swift's overlay of the C library ------------------------------------------------------------------

/// Returns freed memory to the system.
void vitrine_gtk_trim_heap(void);

/// Limits the number of heaps among which the allocator divides threads.
void vitrine_gtk_limit_heaps(int count);

#endif
