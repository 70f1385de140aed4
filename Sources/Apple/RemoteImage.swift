public import SwiftUI
public import Vitrine
import VitrineRuntime

/// A view that loads and shows an image.
///
/// ```swift
/// RemoteImage(url) { phase in
///   switch phase {
///   case .empty: ProgressView()
///   case .preview(let image), .success(let image, _): image.resizable().scaledToFill()
///   case .failure: Image(systemName: "photo")
///   }
/// }
/// .frame(width: 300, height: 200)
/// ```
/// An image in memory is there the first time that the view is shown. The image of an earlier URL is never shown for a
/// later one. A load ends when the view disappears, and begins again when it appears; ``whenLeft(_:)`` chooses otherwise.
/// Animated images play while the view is shown, if their request ``Vitrine/ImageRequest/animates`` and the user does
/// not want less motion. What is brighter than white, if ``Vitrine/ImageRequest/dynamicRange`` asks for it, is shown as
/// far as `allowedDynamicRange(_:)` of the views around allows, or else as the display can.
///
/// Name the size in the request, so that no more is decoded than is shown. The pipeline is that of the environment:
/// `.environment(\.imagePipeline, pipeline)`.
public struct RemoteImage<Content: View>: View {
  private let request: ImageRequest?
  private let scale: CGFloat
  private let transaction: Transaction
  private let content: (RemoteImagePhase) -> Content
  private var leaving = ImageSlot.Leaving.cancel

  @State
  private var model = RemoteImageModel()
  @Environment(\.imagePipeline)
  private var pipeline
  @Environment(\.accessibilityReduceMotion)
  private var reducesMotion
  @Environment(\.allowedDynamicRange)
  private var allowedRange

  /// Creates a view whose content a closure makes of each phase.
  ///
  /// - Parameters:
  ///   - request: The request; `nil` for no image.
  ///   - scale: The number of pixels to a point of an image that is not resizable. Defaults to 1.
  ///   - transaction: The transaction in which an image appears that was not in memory. Defaults to one without an
  ///     animation.
  ///   - content: Makes the content.
  public init(
    _ request: ImageRequest?,
    scale: CGFloat = 1,
    transaction: Transaction = Transaction(),
    @ViewBuilder content: @escaping (RemoteImagePhase) -> Content,
  ) {
    (self.request, self.scale, self.transaction, self.content) = (request, scale, transaction, content)
  }

  /// Creates a view of the image at a URL; see ``init(_:scale:transaction:content:)-(ImageRequest?,_,_,_)``.
  @_disfavoredOverload
  public init(
    _ url: (some URLConvertible)?,
    scale: CGFloat = 1,
    transaction: Transaction = Transaction(),
    @ViewBuilder content: @escaping (RemoteImagePhase) -> Content,
  ) {
    self.init(url.map { ImageRequest($0.imageSource) }, scale: scale, transaction: transaction, content: content)
  }

  /// The content for the present phase.
  public var body: some View {
    TimelineView(.animation(paused: !model.isMoving || reducesMotion)) { timeline in
      content(phase(at: timeline.date))
    }
    .onAppear { load() }
    .onDisappear { model.disappear(leaving) }
    .onChange(of: RequestIdentity(request: request, pipeline: pipeline)) { load() }
  }

  private func phase(at date: Date) -> RemoteImagePhase {
    model.advance(to: date, isStill: reducesMotion)
    return model.phase(of: request, pipeline, ImageLook(scale: scale, range: allowedRange))
  }

  private func load() { model.load(request, pipeline, transaction, whenLeft: leaving) }

  /// Returns a view that handles its load otherwise when it disappears, or has another request.
  ///
  /// ```swift
  /// RemoteImage(url) { $0.image?.resizable() }
  ///   .whenLeft(.lower)  // a page that is turned back soon: its download goes on, behind those that are seen
  /// ```
  ///
  /// - Parameter leaving: The handling. A view without it cancels: ``Vitrine/ImageSlot/Leaving/cancel``.
  /// - Returns: The view.
  public func whenLeft(_ leaving: ImageSlot.Leaving) -> RemoteImage {
    var view = self
    view.leaving = leaving
    return view
  }
}

extension RemoteImage {
  /// Creates a view with a placeholder, content for a failure, and a style for the image.
  ///
  /// ```swift
  /// RemoteImage(url, style: { $0.resizable().scaledToFill() }) {
  ///   Color.gray
  /// } failure: { _ in
  ///   Image(systemName: "photo")
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - request: The request; `nil` for no image.
  ///   - transaction: The transaction in which an image appears that was not in memory. Defaults to an animation of
  ///     its usual length.
  ///   - style: Makes a view of the image and of its previews.
  ///   - placeholder: Makes the content until then.
  ///   - failure: Makes the content after a failure.
  public init<Styled: View, Waiting: View, Failed: View>(
    _ request: ImageRequest?,
    transaction: Transaction = Transaction(animation: .default),
    @ViewBuilder style: @escaping (Image) -> Styled,
    @ViewBuilder placeholder: @escaping () -> Waiting,
    @ViewBuilder failure: @escaping (LoadError) -> Failed,
  ) where Content == RemoteImageContent<Styled, Waiting, Failed> {
    self.init(request, transaction: transaction) { phase in
      RemoteImageContent(phase: phase, style: style, placeholder: placeholder, failure: failure)
    }
  }

  /// Creates a view of the image at a URL; see ``init(_:transaction:style:placeholder:failure:)-(ImageRequest?,_,_,_,_)``.
  @_disfavoredOverload
  public init<Styled: View, Waiting: View, Failed: View>(
    _ url: (some URLConvertible)?,
    transaction: Transaction = Transaction(animation: .default),
    @ViewBuilder style: @escaping (Image) -> Styled,
    @ViewBuilder placeholder: @escaping () -> Waiting,
    @ViewBuilder failure: @escaping (LoadError) -> Failed,
  ) where Content == RemoteImageContent<Styled, Waiting, Failed> {
    self.init(
      url.map { ImageRequest($0.imageSource) },
      transaction: transaction,
      style: style,
      placeholder: placeholder,
      failure: failure,
    )
  }
}

/// The content of a ``RemoteImage`` with a style.
public struct RemoteImageContent<Styled: View, Waiting: View, Failed: View>: View {
  let phase: RemoteImagePhase
  let style: (Image) -> Styled
  let placeholder: () -> Waiting
  let failure: (LoadError) -> Failed

  /// The view for the phase.
  public var body: some View {
    switch phase {
    case .empty: placeholder()
    case .preview(let image), .success(let image, _): style(image)
    case .failure(let error): failure(error)
    }
  }
}

/// The request and the pipeline of a view, whose change begins another load.
private struct RequestIdentity: Equatable {
  let request: ImageRequest?
  let pipeline: ImagePipeline

  static func == (one: Self, other: Self) -> Bool {
    guard one.pipeline === other.pipeline else { return false }
    guard let request = one.request, let otherRequest = other.request else {
      return one.request == nil && other.request == nil
    }
    return request.isSame(as: otherRequest)
  }
}
