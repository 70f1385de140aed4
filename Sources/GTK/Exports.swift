// Who imports VitrineGTK calls GTK, too, and has the requests to load.
@_exported public import CGTK
@_exported public import Vitrine
