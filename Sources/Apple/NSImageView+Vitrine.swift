#if os(macOS) || os(Linux)
public import AppKit
public import Vitrine

extension NSImageView {
  /// The loader of this view, which lives as long as the view.
  public var vitrine: ImageViewLoader { ImageViewLoader.of(self) }
}

extension NSImageView: PictureHost {
  var fittingMode: TargetSize.Mode {
    switch imageScaling {
    case .scaleAxesIndependently: .exact
    case .scaleNone: .fill
    case .scaleProportionallyDown, .scaleProportionallyUpOrDown: .fit
    @unknown default: .fit
    }
  }

  var pixelSize: HostSize? { hostSize }

  func show(_ image: ImageContainer, isTemplate: Bool, duration: TimeInterval) {
    removeAllSymbolEffects(animated: false)
    if duration > 0 { fadeContents(duration) }
    let picture = NSImage(image)
    picture?.isTemplate = isTemplate
    self.image = picture
  }

  func show(frame: Bitmap) { image = NSImage(frame) }

  func show(standIn: Placeholder) {
    removeAllSymbolEffects(animated: false)
    image = NSImage.standIn(standIn)
    if let symbol = standIn.symbol { add(symbol.effects) }
  }

  func allow(_ range: DisplayRange) { preferredImageDynamicRange = range.nsRange }

  func watchLayout(_ loader: ImageViewLoader) {
    let probe = LayoutProbe(frame: bounds)
    probe.onLayout = { [weak loader] in loader?.updateSize() }
    probe.autoresizingMask = [.width, .height]
    addSubview(probe)
  }

  func makeFrameLink(_ tick: @escaping @MainActor (Duration) -> Void) -> any FrameLink { WindowLink(self, tick) }

  private func add(_ effects: [Symbol.Effect]) {
    for effect in effects { add(effect.effect, effect.options) }
  }

  private func add(_ effect: some IndefiniteSymbolEffect & SymbolEffect, _ options: SymbolEffectOptions) {
    addSymbolEffect(effect, options: options)
  }
}

/// An empty view that reports when the view around it has been laid out, and takes no clicks.
private final class LayoutProbe: NSView {
  var onLayout: () -> Void = {}

  override func layout() {
    super.layout()
    onLayout()
  }

  #if os(macOS)
  override func hitTest(_ point: NSPoint) -> NSView? { nil }
  #endif
}

extension NSView {
  /// The size in pixels, or that of the window if the view has none.
  var hostSize: HostSize? {
    let scale = window?.backingScaleFactor ?? 1
    return HostSize(bounds.size, scale: scale)
      ?? window?.contentView.flatMap { HostSize($0.bounds.size, scale: scale, isBound: true) }
  }

  /// Has the next change of the layer's contents fade in.
  func fadeContents(_ duration: TimeInterval) {
    wantsLayer = true
    let transition = CATransition()
    transition.type = .fade
    transition.duration = duration
    layer?.add(transition, forKey: kCATransition)
  }

  /// Has the contents of the layer appear at once, also those that fade in.
  func endFade() { layer?.removeAnimation(forKey: kCATransition) }
}

extension NSImage {
  /// Returns the image that stands for one that is loading or has failed; `nil` for none.
  static func standIn(_ placeholder: Placeholder) -> NSImage? {
    switch placeholder {
    case .color(let color): NSImage(Bitmap.filled(with: color))
    case .image(let bitmap): NSImage(bitmap)
    case .resource(let name): NSImage(named: name)
    case .symbol(let name): NSImage(systemSymbolName: name, accessibilityDescription: nil)
    case .native(let value): (value as? Symbol).map { $0.nsImage } ?? (value as? PlacedImage)?.image
    // The slot shows variants and hashes as images.
    case .none, .keepCurrent, .cachedVariant, .request, .thumbHash, .blurHash: nil
    }
  }
}

/// An image of AppKit's in a placeholder.
private struct PlacedImage: Hashable, @unchecked Sendable {
  // @unchecked: the image is made and shown on the main actor, and only its identity is read elsewhere.
  let image: NSImage
}

extension Placeholder {
  /// A picture of AppKit's, as the program has it.
  @MainActor
  public static func image(_ image: NSImage) -> Placeholder { .native(PlacedImage(image: image)) }
}

extension Symbol {
  var nsImage: NSImage? {
    let image: NSImage? =
      if let variableValue {
        NSImage(systemSymbolName: name, variableValue: variableValue, accessibilityDescription: nil)
      } else {
        NSImage(systemSymbolName: name, accessibilityDescription: nil)
      }
    guard let configuration = configuration?.value as? NSImage.SymbolConfiguration else { return image }
    return image?.withSymbolConfiguration(configuration)
  }
}
#endif
