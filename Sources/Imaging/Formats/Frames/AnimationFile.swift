import VitrineRuntime

/// The file of an animation, with the facts about its frames; it grows while the file arrives.
///
/// An animation shares it with those whose frames are its own, changed.
final class AnimationFile: Sendable {
  struct Contents {
    var data: Data
    var info: ImageInfo
    /// The duration of each frame, in seconds.
    var delays: [Double]
    /// The number of frames whose bytes are there.
    var frameCount: Int
    /// True while more bytes are to come.
    var isArriving: Bool

    /// `arrived` is the number of frames of a file that is still loading; `nil` for a whole one.
    init(_ data: Data, _ info: ImageInfo, _ delays: [Double], arrived: Int?) {
      (self.data, self.info, self.delays) = (data, info, delays)
      frameCount = min(arrived ?? .max, info.frameCount)
      isArriving = arrived != nil
    }
  }

  private let state: Lock<Contents>

  init(_ contents: Contents) { state = Lock(contents) }

  var data: Data { state.withLock { $0.data } }
  var info: ImageInfo { state.withLock { $0.info } }
  var delays: [Double] { state.withLock { $0.delays } }
  var frameCount: Int { state.withLock { $0.frameCount } }
  var isArriving: Bool { state.withLock { $0.isArriving } }

  /// Replaces the contents by longer ones of the same file.
  ///
  /// - Returns: `false` if nothing more was to come, or the bytes are another file's.
  func grow(_ contents: Contents) -> Bool {
    let known = data
    guard contents.data.prefix(known.count) == known else { return false }
    return state.withLock { state in
      guard state.isArriving, contents.data.count >= state.data.count else { return false }
      state = contents
      return true
    }
  }

  func endArrival() { state.withLock { $0.isArriving = false } }
}
