// These types of the runtime appear in the API of this module.
@_exported public import enum VitrineRuntime.Priority
@_exported public import struct VitrineRuntime.ScheduledAction
@_exported public import struct VitrineRuntime.SystemClock
@_exported public import protocol VitrineRuntime.TimeSource
