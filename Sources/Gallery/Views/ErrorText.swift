import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

extension LoadError {
  /// The reason in a short sentence of the user's language; the details are in the panel.
  var shortText: String {
    if let status { return Self.text(ofStatus: status) }
    if let cause = cause as? ImageError { return Self.text(of: cause.code) }
    if let cause = cause as? FileError {
      switch cause.code {
      case ENOENT, ENOTDIR: return translated("The file is no longer there")
      case EACCES, EPERM: return translated("You may not see this picture")
      default: return translated("The file cannot be read")
      }
    }
    switch code {
    case .fetchFailed:
      return (cause as? HTTPError)?.code == .timedOut
        ? translated("The server does not answer") : translated("The server cannot be reached")
    case .offline, .notCached: return translated("There is no network")
    case .tooLarge: return translated("The picture is too large")
    case .invalidURL: return translated("The address is not valid")
    case .forbidden: return translated("You may not see this picture")
    default: return translated("The picture cannot be shown")
    }
  }

  private static func text(ofStatus status: Int) -> String {
    switch status {
    case 401, 403: translated("You may not see this picture")
    case 404, 410: translated("The server does not have this picture")
    case 500...: translated("The server has a problem")
    default: translated("The server refuses this picture")
    }
  }

  private static func text(of code: ImageError.Code) -> String {
    switch code {
    case .unrecognised: translated("This is not a picture")
    case .unsupported: translated("This kind of picture is not supported")
    case .truncated: translated("The file ends too early")
    case .corrupt: translated("The file is damaged")
    case .overLimit: translated("The picture is too large")
    case .outOfTime: translated("The picture takes too long to open")
    default: translated("The picture cannot be shown")
    }
  }
}
