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

typedef void (*VitrineSignal)(gpointer sender, gpointer user);
typedef void (*VitrineSignalWithArgument)(gpointer sender, gpointer argument, gpointer user);
typedef void (*VitrineRelease)(gpointer user);

gulong vitrine_gtk_connect(gpointer object, const char *signal, VitrineSignal, gpointer user, VitrineRelease);
gulong vitrine_gtk_connect_with_argument(
    gpointer object, const char *signal, VitrineSignalWithArgument, gpointer user, VitrineRelease);

// ---- Casts -------------------------------------------------------------------------------------------------------------

GtkWindow *vitrine_gtk_window(gpointer);
GApplication *vitrine_gtk_application(gpointer);
GtkBox *vitrine_gtk_box(gpointer);
GObject *vitrine_gtk_object(gpointer);
GQuark vitrine_gtk_quark(void);

// ---- Widgets -----------------------------------------------------------------------------------------------------------

/// Creates an object of a widget class, with its own name in style sheets.
GtkWidget *vitrine_gtk_new_widget(GType, const char *css_name);
/// Returns the parent class of ours.
GtkWidgetClass *vitrine_gtk_parent_class(void);
/// Device pixels per point: a fraction if this GTK supports it (4.12), otherwise a whole number.
double vitrine_gtk_scale(GtkWidget *);
gboolean vitrine_gtk_animations_enabled(GtkWidget *);
void vitrine_gtk_set_label(GtkWidget *, const char *text);
void vitrine_gtk_prefer_dark(void);
void vitrine_gtk_load_css(GtkCssProvider *, const char *);

// ---- Missing from Swift's overlay of the C library ------------------------------------------------------------------

/// Returns freed memory to the system.
void vitrine_gtk_trim_heap(void);

#endif
