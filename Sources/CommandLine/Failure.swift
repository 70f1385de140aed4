import Vitrine
import VitrineImaging
import VitrineRuntime

/// The failure of one source.
struct Failure: Error {
  /// The stage at which it failed.
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
    // The pipeline's stages have the same names.
    stage = Stage(rawValue: error.stage.rawValue) ?? .fetch
    reason = error.detail
  }
}

extension Result {
  /// The value and the error, one of which is `nil`.
  var parts: (Success?, Failure?) {
    switch self {
    case .success(let value): (value, nil)
    case .failure(let error): (nil, error)
    }
  }
}

extension FileError {
  /// A description of the error for standard input and output.
  var ofStandardFile: String { code == EBADF ? "it is closed" : description }
}

/// An error in the command line, or in a list of sources that cannot be read.
struct UsageError: Error {
  let message: String
  let exitCode: Int32

  init(_ message: String, exitCode: Int32 = ExitCode.usage) {
    (self.message, self.exitCode) = (message, exitCode)
  }
}

/// The exit statuses of the tool; 64 is from sysexits.h.
enum ExitCode {
  static let success: Int32 = 0
  static let failure: Int32 = 1
  static let usage: Int32 = 64
}
