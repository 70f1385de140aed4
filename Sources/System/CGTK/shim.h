#if !__has_include(<gtk/gtk.h>)
#error "Headers are missing: apt-get install libgtk-4-dev"
#endif

#include <gtk/gtk.h>
#include <glib-unix.h>
