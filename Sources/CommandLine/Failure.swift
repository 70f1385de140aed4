import Vitrine
import VitrineImaging
import VitrineRuntime

/// Why one source could not be done.
struct Failure: Error {
  /// Where on an image's way it happened.
  enum Stage: String {
    case request, fetch, decode, process, encode, write
  }

  let stage: Stage
  let reason: String

  init(stage: Stage, _ reason: String) {
    self.stage = stage
    self.reason = reason
  }

  init(_ error: ImageError) {
    stage =
      switch error.code {
      case .notEncodable: .encode
      case .invalidSize: .process
      default: .decode
      }
    reason = error.detail
  }

  init(_ error: LoadError) {
    // The stages of the pipeline are among ours, under the same names.
    stage = Stage(rawValue: error.stage.rawValue) ?? .fetch
    reason = error.detail
  }
}

extension Result {
  /// What was done, or why it was not.
  var parts: (Success?, Failure?) {
    switch self {
    case .success(let value): (value, nil)
    case .failure(let error): (nil, error)
    }
  }
}

extension FileError {
  /// The reason in words, for standard input and output.
  var ofStandardFile: String { code == EBADF ? "it is closed" : description }
}

/// The command line was not understood, or names a list of sources that cannot be read.
struct UsageError: Error {
  let message: String
  let exitCode: Int32

  init(_ message: String, exitCode: Int32 = ExitCode.usage) {
    (self.message, self.exitCode) = (message, exitCode)
  }
}

/// What a process ends with (sysexits.h has 64).
enum ExitCode {
  static let success: Int32 = 0
  static let failure: Int32 = 1
  static let usage: Int32 = 64
}
