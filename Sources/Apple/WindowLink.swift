#if os(macOS) || os(Linux)
import AppKit

/// The display link of a view of AppKit; silent while the view is in no window.
@MainActor
final class WindowLink: NSObject, FrameLink {
  private weak var view: NSView?
  private let tick: @MainActor (Duration) -> Void
  var isRunning = false {
    didSet { if isRunning != oldValue { update() } }
  }

  init(_ view: NSView, _ tick: @escaping @MainActor (Duration) -> Void) {
    (self.view, self.tick) = (view, tick)
    super.init()
  }

  #if os(Linux)
  private func update() { if isRunning { _RunLoop._add(self) } }
  #else
  private var link: CADisplayLink?

  private func update() {
    link?.invalidate()
    // A display link retains its target until it is invalidated.
    link = isRunning ? view?.displayLink(target: LinkTarget(self), selector: #selector(LinkTarget.fire)) : nil
    link?.add(to: .main, forMode: .common)
  }

  isolated deinit { link?.invalidate() }

  fileprivate func fire(_ link: CADisplayLink) { tick(.seconds(link.targetTimestamp)) }
  #endif
}

#if os(Linux)
// The stubs have no selectors, so no display link of AppKit's.
extension WindowLink: _FrameObserver {
  func _beforeCommit(time: TimeInterval, interval: TimeInterval, isUpdate: Bool) {
    if isRunning, view?.window != nil { tick(.seconds(time)) }
  }

  func _afterCommit() {}
}
#else
/// The target of a display link, which does not keep the link's owner alive.
@MainActor
private final class LinkTarget: NSObject {
  private weak var owner: WindowLink?

  init(_ owner: WindowLink) { self.owner = owner }

  @objc
  func fire(_ link: CADisplayLink) { owner?.fire(link) }
}
#endif
#endif
