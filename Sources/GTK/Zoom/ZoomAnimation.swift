import Vitrine
import VitrineImaging

/// The frames of a picture that moves, as large as they are shown.
@MainActor
final class ZoomAnimation {
  /// A size in pixels.
  struct Size: Equatable {
    var width: Int
    var height: Int
  }

  /// Called with frames of another size, and the index of the one to go on with.
  var arrived: (AnimatedImage, _ frame: Int) -> Void = { _, _ in }
  /// Called with the error of a load.
  var failed: (LoadError) -> Void = { _ in }
  /// The index of the frame that is shown.
  var frameIndex: () -> Int = { 0 }

  private let opener: any PictureOpening
  private var request: ImageRequest
  private var wanted: Size?
  private var loaded: Size?
  private var task: Task<Void, Never>?

  init(_ opener: any PictureOpening, _ request: ImageRequest) {
    (self.opener, self.request) = (opener, request)
    self.request.animates = true
    self.request.processors = []
  }

  /// Asks for frames of a size, unless they are there.
  func want(_ size: Size) {
    guard size != wanted else { return }
    wanted = size
    // Sizes that come while a window is being resized are left out.
    if task == nil { load() }
  }

  /// Asks again for frames that could not be loaded.
  func retry() { if task == nil { load() } }

  func stop() {
    task?.cancel()
    (wanted, task) = (nil, nil)
  }

  private func load() {
    guard let size = wanted, size != loaded else { return }
    var request = request
    request.size = .pixels(Double(size.width), Double(size.height), .exact)
    let opener = opener
    task = Task { @MainActor [weak self] in
      let result: Result<AnimatedImage?, LoadError>
      do throws(LoadError) {
        result = .success(try await opener.animation(request))
      } catch {
        result = .failure(error)
      }
      // The frame that is shown stays until the same one of this size is there.
      if case .success(let image?) = result, let frame = self?.frameIndex(), frame > 0, frame < image.frameCount {
        _ = try? await image.frame(at: frame)
      }
      guard !Task.isCancelled else { return }
      MainThreadWork.measure { self?.ended(size, result) }
    }
  }

  private func ended(_ size: Size, _ result: Result<AnimatedImage?, LoadError>) {
    task = nil
    switch result {
    case .success(let image):
      loaded = size
      if let image { arrived(image, frameIndex()) }
      load()
    case .failure(let error): if !error.isCancellation { failed(error) }
    }
  }
}
