// The only file that imports Foundation and the C library; all others get both by importing VitrineRuntime.
//
// A static Linux binary is 13.6 MB with FoundationEssentials and 57.8 MB with all of Foundation, which contains ICU.
// FoundationEssentials does not exist on Apple's platforms, where Foundation costs nothing and exports the C library.
#if canImport(FoundationEssentials)
@_exported public import FoundationEssentials
#else
@_exported public import Foundation
#endif

#if canImport(Glibc)
@_exported public import Glibc
#elseif canImport(Musl)
@_exported public import Musl
#elseif canImport(Darwin)
@_exported public import Darwin
#endif
