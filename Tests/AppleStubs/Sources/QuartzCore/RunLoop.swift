import Foundation

/// A window, as the run loop sees it.
@MainActor
public protocol _Root: AnyObject {
  /// Lays out everything inside.
  func _layoutTree()
}

/// Something that runs once a frame.
@MainActor
public protocol _FrameObserver: AnyObject {
  /// Runs the part before the layout and the commit.
  func _beforeCommit(time: TimeInterval, interval: TimeInterval, isUpdate: Bool)
  /// Runs the part after the commit.
  func _afterCommit()
}

/// The main run loop, turned by hand.
@MainActor
public enum _RunLoop {
  private struct WeakRoot {
    weak var root: (any _Root)?
  }

  private struct WeakObserver {
    weak var observer: (any _FrameObserver)?
  }

  private static var roots: [WeakRoot] = []
  private static var observers: [WeakObserver] = []

  /// Makes a window known, for as long as it lives.
  public static func _add(_ root: any _Root) {
    roots.removeAll { $0.root == nil }
    roots.append(WeakRoot(root: root))
  }

  /// The windows that are alive.
  public static var _roots: [any _Root] { roots.compactMap(\.root) }

  /// Makes an observer known, for as long as it lives.
  public static func _add(_ observer: any _FrameObserver) {
    observers.removeAll { $0.observer == nil }
    observers.append(WeakObserver(observer: observer))
  }

  /// Moves the clock on, with a turn for each frame.
  public static func _advance(by seconds: TimeInterval, frames: Int = 1) {
    let interval = seconds / Double(max(1, frames))
    for _ in 0..<max(1, frames) {
      _Clock._current._advance(by: interval)
      frame(interval: interval)
    }
  }

  private static func frame(interval: TimeInterval) {
    let clock = _Clock._current
    let isUpdate = clock._takeUpdateRequest()
    let present = observers.compactMap(\.observer)
    for observer in present {
      observer._beforeCommit(time: clock._now, interval: interval, isUpdate: isUpdate)
    }
    for root in _roots { root._layoutTree() }
    for observer in present { observer._afterCommit() }
    clock._deliverDue()
  }
}
