import UIKit

/// A picture of a size in pixels.
func picture(_ width: Int, _ height: Int) -> CGImage {
  CGImage._make(width: width, height: height)
}

/// Runs a test on a clock of its own.
@MainActor
func withOwnClock(_ body: @MainActor () throws -> Void) rethrows {
  try _Clock.$_current.withValue(_Clock()) { try body() }
}
