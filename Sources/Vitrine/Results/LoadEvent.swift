public import VitrineImaging
import VitrineRuntime

/// An event of a ``LoadTask``.
public enum LoadEvent<Value: Sendable>: Sendable {
  /// The bytes received so far.
  case progress(LoadProgress)
  /// An early version of an image; never sent by a task for bytes.
  case preview(ImageContainer)
  /// The end of the load, with its result.
  case finished(Result<Value, LoadError>)
}

/// An event of a loading image.
public typealias ImageEvent = LoadEvent<ImageResponse>

/// The progress of a download.
public struct LoadProgress: Sendable, Hashable {
  /// The number of bytes received.
  public let completed: Int
  /// The number of bytes expected; 0 if unknown.
  public let total: Int

  /// Creates a progress, for fakes; a number below 0 counts as 0.
  ///
  /// - Parameters:
  ///   - completed: The number of bytes received. Defaults to 0.
  ///   - total: The number of bytes expected; 0, the default, if unknown.
  package init(completed: Int = 0, total: Int = 0) {
    (self.completed, self.total) = (max(0, completed), max(0, total))
  }

  /// The fraction received, from 0 to 1; 0 while the total is unknown.
  public var fraction: Double {
    guard total > 0 else { return 0 }
    return min(1, Double(completed) / Double(total))
  }
}

extension LoadProgress {
  init(_ progress: WorkProgress) { self.init(completed: progress.completed, total: progress.total) }
}

/// A stage in the life of a ``LoadTask``.
public enum LoadState: Sendable, Hashable, CaseIterable {
  /// The task loads, or waits for a paused ``LoadScope``.
  case running
  /// The task has its value, or has failed; see its result.
  case finished
  /// The task was cancelled.
  case cancelled
}

/// A value that a load may fetch.
protocol LoadedValue: Sendable {
  var origin: ImageResponse.Origin { get }
  var isStale: Bool { get }
  var status: Int? { get }
  /// The number of encoded bytes.
  var byteCount: Int { get }
}

extension LoadedValue {
  /// The number of bytes that came from the server for this load; 0 for any other origin.
  var fetchedByteCount: Int { origin == .network ? byteCount : 0 }
}
