import VitrineImaging
import VitrineRuntime

// The request of a placeholder: a small image until the slot's own arrives.
extension ImageSlot {
  /// Loads the request of the placeholder, with a higher priority than the image.
  func startSmall(of binding: Binding, beside request: ImageRequest) {
    guard var wanted = binding.small.map({ sizedIfPossible($0) }), smallLoad == nil else { return }
    let higher = Priority(rawValue: request.priority.rawValue + 1) ?? .veryHigh
    wanted.priority = max(wanted.priority, higher)
    wanted.previews = .none
    let load = SlotLoad(wanted, for: self, isWatching: false)
    smallLoad = load
    mailbox.statistics.loadsStarted += 1
    let task = loader.startLoading(wanted, isWatching: false, in: scope) { load.note($0) }
    receive(load.began(task), from: load)
  }

  /// Returns the request with the view's size, if it needs one and that is known.
  func sizedIfPossible(_ request: ImageRequest) -> ImageRequest { sized(request) ?? request }

  func receiveSmall(_ news: SlotLoad.News) {
    guard let result = news.result, let binding else { return }
    (smallLoad, binding.small) = (nil, nil)
    // A failure is silent: the image itself is still loading.
    guard case .success(let response) = result else { return }
    switch shown {
    case .image, .preview, .variant(isSharp: true): break
    case .nothing, .standIn, .kept, .variant: show(small: response, for: sized(binding) ?? binding.request)
    }
  }

  func show(small response: ImageResponse, for request: ImageRequest) {
    shown = .variant(isSharp: isSharp(response.image, for: request))
    mailbox.statistics.variants += 1
    display?.show(.preview(response.container))
  }

  /// Returns `true` if a bitmap has at least half of the pixels that a request wants, along a side.
  private func isSharp(_ bitmap: Bitmap, for request: ImageRequest) -> Bool {
    let width = request.size?.width ?? viewSize.map { Double($0.width) } ?? .infinity
    let height = request.size?.height ?? viewSize.map { Double($0.height) } ?? .infinity
    return Double(2 * bitmap.width) >= width || Double(2 * bitmap.height) >= height
  }

  /// Cancels the load of the placeholder's request for good.
  func endSmall() {
    binding?.small = nil
    leaveSmall()
  }

  /// Cancels the load of the placeholder's request.
  func leaveSmall() {
    let old = smallLoad
    smallLoad = nil
    leave(old, .cancel)
  }
}
