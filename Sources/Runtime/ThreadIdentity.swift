/// Returns a number that identifies the calling thread as long as it lives; never 0.
package func threadIdentity() -> UInt {
  #if canImport(Darwin)
  unsafe UInt(bitPattern: pthread_self())
  #else
  UInt(pthread_self())
  #endif
}
