import CoreGraphics
import Foundation

/// A screen.
@MainActor
open class NSScreen: NSObject {
  private static let instance = NSScreen()

  /// The screen with the keys.
  open class var main: NSScreen? { instance }

  /// How many pixels make a point.
  open internal(set) var backingScaleFactor: CGFloat = 2
  /// The rectangle in points.
  open internal(set) var frame = NSRect(x: 0, y: 0, width: 1_440, height: 900)
  /// How many frames a second it can show.
  open internal(set) var maximumFramesPerSecond = 60
  /// How much brighter than white it is now.
  open internal(set) var maximumExtendedDynamicRangeColorComponentValue: CGFloat = 1
  /// How much brighter than white it can be.
  open internal(set) var maximumPotentialExtendedDynamicRangeColorComponentValue: CGFloat = 1

  /// Sets how much brighter than white it is and can be.
  public func _setHeadroom(_ headroom: CGFloat) {
    maximumExtendedDynamicRangeColorComponentValue = headroom
    maximumPotentialExtendedDynamicRangeColorComponentValue = headroom
  }
}

/// A window.
@MainActor
open class NSWindow: NSResponder, _Root {
  /// What a window has around it.
  public struct StyleMask: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Makes a mask from its bits.
    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    /// Nothing.
    public static let borderless: StyleMask = []
    /// A title.
    public static let titled = StyleMask(rawValue: 1 << 0)
    /// A button that closes it.
    public static let closable = StyleMask(rawValue: 1 << 1)
    /// A button that puts it away.
    public static let miniaturizable = StyleMask(rawValue: 1 << 2)
    /// Edges that change its size.
    public static let resizable = StyleMask(rawValue: 1 << 3)
  }

  /// How a window keeps what it shows.
  public enum BackingStoreType: UInt, Sendable {
    /// In a buffer.
    case buffered = 2
  }

  /// What of a window can be seen.
  public struct OcclusionState: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Makes a state from its bits.
    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    /// At least a part.
    public static let visible = OcclusionState(rawValue: 1 << 1)
  }

  /// The scale of a window has changed.
  public nonisolated static let didChangeBackingPropertiesNotification =
    NSNotification.Name("NSWindowDidChangeBackingPropertiesNotification")
  /// What can be seen of a window has changed.
  public nonisolated static let didChangeOcclusionStateNotification =
    NSNotification.Name("NSWindowDidChangeOcclusionStateNotification")
  /// A window will close.
  public nonisolated static let willCloseNotification = NSNotification.Name("NSWindowWillCloseNotification")

  private var scale: CGFloat = 2
  /// The rectangle on the screen.
  open private(set) var frame: NSRect
  /// What it has around it.
  open var styleMask: NSWindow.StyleMask
  /// Whether it is on the screen.
  open private(set) var isVisible = false
  /// What of it can be seen.
  open private(set) var occlusionState: NSWindow.OcclusionState = []
  /// The title.
  open var title = ""
  /// Whether it goes away when it is closed.
  open var isReleasedWhenClosed = true

  /// Makes a window.
  public init(
    contentRect: NSRect,
    styleMask style: NSWindow.StyleMask,
    backing backingStoreType: NSWindow.BackingStoreType,
    defer flag: Bool,
  ) {
    frame = contentRect
    styleMask = style
    super.init()
    start()
    _RunLoop._add(self)
  }

  /// Makes an empty window: these stubs read no archives.
  public required init?(coder: NSCoder) {
    frame = .zero
    styleMask = []
    super.init(coder: coder)
    _RunLoop._add(self)
  }

  /// The view that fills it.
  open var contentView: NSView? {
    willSet {
      guard newValue !== contentView else { return }
      contentView?.move(to: nil, window: nil) {}
    }
    didSet {
      guard oldValue !== contentView, let contentView else { return }
      contentView.frame = NSRect(origin: .zero, size: frame.size)
      contentView.move(to: nil, window: self) { contentView.nextResponder = self }
    }
  }

  /// How many pixels make a point in this window.
  open var backingScaleFactor: CGFloat { scale }

  /// The screen it is on.
  open var screen: NSScreen? { .main }

  /// Shows it in front of the others, with the keys.
  open func makeKeyAndOrderFront(_ sender: Any?) {
    isVisible = true
    _setOcclusionState(.visible)
  }

  /// Puts it away.
  open func orderOut(_ sender: Any?) {
    isVisible = false
    _setOcclusionState([])
  }

  /// Closes it.
  open func close() {
    NotificationCenter.default.post(name: Self.willCloseNotification, object: self)
    orderOut(nil)
  }

  /// Changes the size of the content.
  open func setContentSize(_ size: NSSize) {
    frame.size = size
    contentView?.frame.size = size
  }

  /// Brings the layout up to date.
  open func layoutIfNeeded() {
    contentView?.layoutSubtreeIfNeeded()
  }

  /// Moves it to a screen of another scale.
  public func _setBackingScaleFactor(_ factor: CGFloat) {
    guard factor != scale else { return }
    scale = factor
    contentView?.backingChanged(factor)
    NotificationCenter.default.post(name: Self.didChangeBackingPropertiesNotification, object: self)
  }

  /// Covers or uncovers it.
  public func _setOcclusionState(_ state: NSWindow.OcclusionState) {
    guard state != occlusionState else { return }
    occlusionState = state
    NotificationCenter.default.post(name: Self.didChangeOcclusionStateNotification, object: self)
  }

  private func start() {
    contentView = NSView(frame: NSRect(origin: .zero, size: frame.size))
  }

  /// Lays out everything inside, and has it draw what is out of date.
  public func _layoutTree() {
    contentView?.layoutSubtreeIfNeeded()
    contentView?.displayTree()
  }
}
