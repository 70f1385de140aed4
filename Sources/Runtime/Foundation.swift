// This file alone imports Foundation and the C library; all others get both by importing VitrineRuntime.
//
// A static Linux binary is 13.6 MB with FoundationEssentials and 57.8 MB with all of Foundation, which contains ICU.
// FoundationEssentials does not exist on Apple's platforms, where Foundation costs nothing and exports the C library.
#if _pointerBitWidth(_32)
#error("Vitrine needs a 64-bit platform: lengths in files of strangers have not been checked to fit 32 bits")
#endif

#if VITRINE_APPLE
@_exported public import Foundation
#if os(Linux)
// In a test of the Apple configuration on Linux, URLSession has a module of its own, and Dispatch re-exports some of
// the C library through Foundation.
@_exported public import CDispatch
@_exported public import URLLoading
#endif
#else
@_exported public import FoundationEssentials
#endif

#if canImport(Glibc)
@_exported public import Glibc
#elseif canImport(Musl)
@_exported public import Musl
#elseif canImport(Darwin)
@_exported public import Darwin
#endif
