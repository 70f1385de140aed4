// Who imports Vitrine has the rooms it joins, too.
@_exported public import VitrineCaching
@_exported public import VitrineHTTP
@_exported public import VitrineImaging
@_exported public import VitrineRuntime
