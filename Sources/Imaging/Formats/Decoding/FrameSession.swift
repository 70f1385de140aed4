import VitrineRuntime

/// The frames of one ``FrameSource``, named so that another process can keep the canvas on which the next frame builds.
package struct FrameSession: Hashable, Sendable {
  /// A number that no other session of this process has; above 0.
  package let number: Int

  package init(number: Int) { self.number = number }

  /// Makes a new session.
  init() {
    number = Self.last.withLock { last in
      last += 1
      return last
    }
  }

  private static let last = Lock(0)
}
