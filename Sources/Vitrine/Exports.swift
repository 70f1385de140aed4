// A program that imports Vitrine also imports the modules that Vitrine joins. It gets the types of VitrineRuntime that
// appear in the API, but neither Foundation nor the C library, which VitrineRuntime passes on within the package.
@_exported public import VitrineCaching
@_exported public import VitrineHTTP
@_exported public import VitrineImaging
@_exported public import enum VitrineRuntime.MemoryPressure
@_exported public import class VitrineRuntime.MemoryPressureObservation
@_exported public import protocol VitrineRuntime.MemoryPressureSource
@_exported public import enum VitrineRuntime.Priority
@_exported public import struct VitrineRuntime.ScheduledAction
@_exported public import struct VitrineRuntime.SystemClock
@_exported public import struct VitrineRuntime.SystemMemoryPressure
@_exported public import protocol VitrineRuntime.TimeSource
