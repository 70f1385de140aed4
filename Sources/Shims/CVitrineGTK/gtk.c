#include "vitrine_gtk.h"

#include <malloc.h>

gulong vitrine_gtk_connect(
    gpointer object, const char *signal, VitrineSignal callback, gpointer user, VitrineRelease release) {
  return g_signal_connect_data(object, signal, G_CALLBACK(callback), user, (GClosureNotify)(void (*)(void))release, 0);
}

gulong vitrine_gtk_connect_with_argument(
    gpointer object, const char *signal, VitrineSignalWithArgument callback, gpointer user, VitrineRelease release) {
  return g_signal_connect_data(object, signal, G_CALLBACK(callback), user, (GClosureNotify)(void (*)(void))release, 0);
}

GtkWindow *vitrine_gtk_window(gpointer object) { return GTK_WINDOW(object); }
GApplication *vitrine_gtk_application(gpointer object) { return G_APPLICATION(object); }
GtkBox *vitrine_gtk_box(gpointer object) { return GTK_BOX(object); }
GObject *vitrine_gtk_object(gpointer object) { return G_OBJECT(object); }
GQuark vitrine_gtk_quark(void) { return g_quark_from_static_string("vitrine"); }

GtkWidget *vitrine_gtk_new_widget(GType type, const char *css_name) {
  return GTK_WIDGET(g_object_new(type, "css-name", css_name, NULL));
}

GtkWidgetClass *vitrine_gtk_parent_class(void) { return GTK_WIDGET_CLASS(g_type_class_peek(GTK_TYPE_WIDGET)); }

double vitrine_gtk_scale(GtkWidget *widget) {
#if GTK_CHECK_VERSION(4, 12, 0)
  GtkNative *native = gtk_widget_get_native(widget);
  GdkSurface *surface = native ? gtk_native_get_surface(native) : NULL;
  if (surface) return gdk_surface_get_scale(surface);
#endif
  return gtk_widget_get_scale_factor(widget);
}

gboolean vitrine_gtk_animations_enabled(GtkWidget *widget) {
  gboolean enabled = TRUE;
  g_object_get(gtk_widget_get_settings(widget), "gtk-enable-animations", &enabled, NULL);
  return enabled;
}

void vitrine_gtk_set_label(GtkWidget *widget, const char *text) {
  gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
}

void vitrine_gtk_prefer_dark(void) {
  g_object_set(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", TRUE, NULL);
}

// gtk_css_provider_load_from_data is deprecated since 4.12, but its successor is newer than the minimum version.
void vitrine_gtk_load_css(GtkCssProvider *provider, const char *css) {
#if GTK_CHECK_VERSION(4, 12, 0)
  gtk_css_provider_load_from_string(provider, css);
#else
  gtk_css_provider_load_from_data(provider, css, -1);
#endif
}

void vitrine_gtk_trim_heap(void) { malloc_trim(0); }
