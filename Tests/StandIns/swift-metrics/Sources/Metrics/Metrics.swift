// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap

import Synchronization

/// Only of the stand-in: what was timed, by label and dimensions.
public let recorded = Mutex<[String: [Int64]]>([:])

/// swift-metrics' timer.
public final class Timer: Sendable {
  public let label: String
  public let dimensions: [(String, String)]

  public init(label: String, dimensions: [(String, String)] = []) {
    (self.label, self.dimensions) = (label, dimensions)
  }

  public func recordNanoseconds(_ duration: Int64) {
    let name = label + dimensions.map { " \($0.0)=\($0.1)" }.joined()
    recorded.withLock { $0[name, default: []].append(duration) }
  }
}
