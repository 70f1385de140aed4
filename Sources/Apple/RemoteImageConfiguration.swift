#if !os(macOS) && !os(watchOS)
public import UIKit
public import Vitrine

/// The content of a cell that shows an image.
///
/// ```swift
/// cell.contentConfiguration = RemoteImageConfiguration(request, placeholder: .color(.init(0xE0E0E0)))
/// ```
/// A cell that is used again keeps its view: the load of the earlier image is cancelled, and its answer never shown.
public struct RemoteImageConfiguration: UIContentConfiguration {
  /// The request; `nil` for no image.
  public var request: ImageRequest?
  /// The content while the image loads.
  public var placeholder: Placeholder
  /// The content if loading fails; `nil` for the placeholder.
  public var failure: Placeholder?
  /// The way in which the image fits.
  public var mode: TargetSize.Mode
  /// The pipeline.
  public var pipeline: ImagePipeline

  /// Creates a configuration.
  public init(
    _ request: ImageRequest?,
    placeholder: Placeholder = .none,
    failure: Placeholder? = nil,
    mode: TargetSize.Mode = .fill,
    pipeline: ImagePipeline = .shared,
  ) {
    (self.request, self.placeholder, self.failure) = (request, placeholder, failure)
    (self.mode, self.pipeline) = (mode, pipeline)
  }

  /// Makes the view.
  public func makeContentView() -> any UIView & UIContentView { RemoteImageContentView(self) }

  /// Returns the configuration itself, which looks the same in every state of a cell.
  public func updated(for state: any UIConfigurationState) -> RemoteImageConfiguration { self }
}

/// The view of a ``RemoteImageConfiguration``.
final class RemoteImageContentView: RemoteImageView, UIContentView {
  private var current: RemoteImageConfiguration

  init(_ configuration: RemoteImageConfiguration) {
    current = configuration
    super.init(configuration.pipeline, mode: configuration.mode)
    apply()
  }

  required init?(coder: NSCoder) { nil }

  var configuration: any UIContentConfiguration {
    get { current }
    set {
      guard let new = newValue as? RemoteImageConfiguration else { return }
      current = new
      apply()
    }
  }

  private func apply() {
    mode = current.mode
    vitrine.pipeline = current.pipeline
    vitrine.load(current.request, placeholder: current.placeholder, failure: current.failure)
  }
}
#endif
