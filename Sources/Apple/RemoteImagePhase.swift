public import SwiftUI
public import Vitrine

/// The state of a ``RemoteImage``.
public enum RemoteImagePhase {
  /// No image was asked for, or none has come yet.
  case empty
  /// A smaller or blurred version of the image, until that comes.
  case preview(Image)
  /// The image, or the present frame of it, and what is known of it.
  case success(Image, ImageResponse)
  /// The load has failed.
  case failure(LoadError)

  /// The image, or a preview of it.
  public var image: Image? {
    switch self {
    case .preview(let image), .success(let image, _): image
    case .empty, .failure: nil
    }
  }

  /// The error; `nil` unless the load has failed.
  public var error: LoadError? {
    if case .failure(let error) = self { error } else { nil }
  }
}

/// How images are made of pixels.
struct ImageLook {
  /// The number of pixels to a point.
  let scale: CGFloat
  /// The range of brightness; `nil` for all that the display can show.
  let range: Image.DynamicRange?
}

extension Image {
  /// Creates an image of pixels, which it shares; an empty one if the system refuses, for lack of memory.
  init(_ bitmap: Bitmap, scale: CGFloat) {
    self = bitmap.cgImage.map { Image(decorative: $0, scale: scale) } ?? Image(decorative: "")
  }

  /// Creates an image of what was decoded, brighter than white where it is.
  init(_ container: ImageContainer, _ look: ImageLook) {
    guard let bright = container.highRange?.cgImage else {
      self.init(container.bitmap, scale: look.scale)
      return
    }
    self = Image(decorative: bright, scale: look.scale).allowedDynamicRange(look.range ?? .high)
  }
}

extension EnvironmentValues {
  private enum PipelineKey: EnvironmentKey {
    static var defaultValue: ImagePipeline { .shared }
  }

  /// The pipeline of the ``RemoteImage``s within; defaults to the shared one.
  public var imagePipeline: ImagePipeline {
    get { self[PipelineKey.self] }
    set { self[PipelineKey.self] = newValue }
  }
}
