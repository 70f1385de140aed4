import CoreGraphics
import Foundation

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

    /// A title.
    public static let titled = StyleMask(rawValue: 1 << 0)
  }

  /// How a window keeps what it shows.
  public enum BackingStoreType: UInt, Sendable {
    /// In a buffer.
    case buffered = 2
  }

  private var scale: CGFloat = 2
  /// The rectangle on the screen.
  open private(set) var frame: NSRect
  /// What it has around it.
  open var styleMask: NSWindow.StyleMask

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

  /// Brings the layout up to date.
  open func layoutIfNeeded() {
    contentView?.layoutSubtreeIfNeeded()
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
