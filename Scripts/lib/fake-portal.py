#!/usr/bin/python3
"""The portal of freedesktop.org for backgrounds, as a desktop has it: `fake-portal.py FILE` keeps the bytes that it is given in a file."""
import os
import sys

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib

INTERFACE = """<node><interface name='org.freedesktop.portal.Wallpaper'><method name='SetWallpaperFile'>
<arg type='s' direction='in'/><arg type='h' direction='in'/><arg type='a{sv}' direction='in'/><arg type='o' direction='out'/>
</method></interface></node>"""


def call(connection, sender, path, interface, method, arguments, invocation):
    _, handle, options = arguments.unpack()
    file = invocation.get_message().get_unix_fd_list().get(handle)
    with os.fdopen(file, "rb") as source:
        data = source.read()
    if options != {"show-preview": True, "set-on": "background"}:
        invocation.return_dbus_error("org.freedesktop.DBus.Error.InvalidArgs", f"the options are {options}")
        return
    with open(sys.argv[1], "wb") as target:
        target.write(data)
    invocation.return_value(GLib.Variant("(o)", ("/org/freedesktop/portal/desktop/request/1/1",)))


bus = Gio.bus_get_sync(Gio.BusType.SESSION, None)
node = Gio.DBusNodeInfo.new_for_xml(INTERFACE)
bus.register_object("/org/freedesktop/portal/desktop", node.interfaces[0], call, None, None)
# In place of the portal that is installed, which the bus may have started.
bus.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
              GLib.Variant("(su)", ("org.freedesktop.portal.Desktop", 2)), None, Gio.DBusCallFlags.NONE, -1, None)
print("ready", flush=True)
GLib.MainLoop().run()
