// A client of VitrineGTK also calls GTK, and makes requests.
@_exported public import CGTK
@_exported public import Vitrine
