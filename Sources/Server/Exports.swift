// A program that embeds the server needs the types of URLs and options, too.
@_exported public import VitrineServingRequests
