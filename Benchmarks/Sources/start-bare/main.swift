// The program that bench-start subtracts: it has Swift and FoundationEssentials, and does nothing with them.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

print("bare")
