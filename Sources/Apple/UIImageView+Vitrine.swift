#if !os(macOS) && !os(watchOS)
public import UIKit
public import Vitrine

extension UIImageView {
  /// The loader of this view, which lives as long as the view.
  public var vitrine: ImageViewLoader { ImageViewLoader.of(self) }
}

extension UIImageView: PictureHost {
  var fittingMode: TargetSize.Mode { contentMode.fitting }

  var pixelSize: HostSize? { hostSize }

  func show(_ image: ImageContainer, isTemplate: Bool, duration: TimeInterval) {
    removeAllSymbolEffects(animated: false)
    let picture = UIImage.picture(image, isTemplate: isTemplate)
    fade(duration) { self.image = picture }
  }

  func show(frame: Bitmap) { image = UIImage(frame) }

  func show(standIn: Placeholder) {
    removeAllSymbolEffects(animated: false)
    image = UIImage.standIn(standIn)
    if let symbol = standIn.symbol { add(symbol.effects) }
  }

  func allow(_ range: DisplayRange) { preferredImageDynamicRange = range.uiRange }

  func watchLayout(_ loader: ImageViewLoader) { addProbe(loader) }

  func makeFrameLink(_ tick: @escaping @MainActor (Duration) -> Void) -> any FrameLink { UpdateLink(self, tick) }

  private func add(_ effects: [Symbol.Effect]) {
    for effect in effects { add(effect.effect, effect.options) }
  }

  private func add(_ effect: some IndefiniteSymbolEffect & SymbolEffect, _ options: SymbolEffectOptions) {
    addSymbolEffect(effect, options: options)
  }
}

/// An empty view that reports when the view around it has been laid out.
private final class LayoutProbe: UIView {
  var onLayout: () -> Void = {}

  override func layoutSubviews() {
    super.layoutSubviews()
    onLayout()
  }
}

extension UIView {
  /// The size in pixels, or the window's size if the view has none.
  var hostSize: HostSize? {
    let scale = max(traitCollection.displayScale, 1)
    return HostSize(bounds.size, scale: scale)
      ?? window.flatMap { HostSize($0.bounds.size, scale: scale, isBound: true) }
  }

  /// Makes a change that fades in, if that takes any time.
  func fade(_ duration: TimeInterval, to change: @escaping () -> Void) {
    guard duration > 0 else { return change() }
    // The view may be touched while the image fades in.
    let options: AnimationOptions = [.transitionCrossDissolve, .allowUserInteraction]
    UIView.transition(with: self, duration: duration, options: options, animations: change)
  }

  /// Reports each layout of the view to a loader from now on.
  func addProbe(_ loader: ImageViewLoader) {
    let probe = LayoutProbe(frame: bounds)
    probe.onLayout = { [weak loader] in loader?.updateSize() }
    probe.autoresizingMask = [.flexibleWidth, .flexibleHeight]
    probe.isUserInteractionEnabled = false
    addSubview(probe)
  }
}

extension UIView.ContentMode {
  var fitting: TargetSize.Mode {
    switch self {
    case .scaleToFill: .exact
    case .scaleAspectFit: .fit
    case .scaleAspectFill: .fill
    // These show pixels as they are; no more are shown than cover the view.
    default: .fill
    }
  }
}

extension UIImage {
  /// Returns an image of what was decoded; a template if it is to have the tint of its view.
  static func picture(_ image: ImageContainer, isTemplate: Bool) -> UIImage? {
    let picture = UIImage(image)
    return isTemplate ? picture?.withRenderingMode(.alwaysTemplate) : picture
  }

  /// Returns the image that stands for one that is loading or has failed; `nil` for none.
  static func standIn(_ placeholder: Placeholder) -> UIImage? {
    switch placeholder {
    case .color(let color): UIImage(Bitmap.filled(with: color))
    case .image(let bitmap): UIImage(bitmap)
    case .resource(let name): UIImage(named: name)
    case .symbol(let name): UIImage(systemName: name)
    case .native(let value): (value as? Symbol).map { $0.uiImage } ?? value as? UIImage
    // The slot shows variants and hashes as images.
    case .none, .keepCurrent, .cachedVariant, .request, .thumbHash, .blurHash: nil
    }
  }
}

extension Placeholder {
  /// A picture of UIKit's, as the program has it.
  public static func image(_ image: UIImage) -> Placeholder { .native(image) }
}

extension Symbol {
  var uiImage: UIImage? {
    let configuration = configuration?.value as? UIImage.SymbolConfiguration
    guard let variableValue else { return UIImage(systemName: name, withConfiguration: configuration) }
    return UIImage(systemName: name, variableValue: variableValue, configuration: configuration)
  }
}

/// The display link of a view of UIKit; silent while the view is in no window.
@MainActor
final class UpdateLink: FrameLink {
  private let link: UIUpdateLink

  init(_ view: UIView, _ tick: @escaping @MainActor (Duration) -> Void) {
    link = UIUpdateLink(view: view)
    link.requiresContinuousUpdates = true
    link.addAction { _, info in tick(.seconds(info.modelTime)) }
  }

  var isRunning: Bool {
    get { link.isEnabled }
    set { link.isEnabled = newValue }
  }
}
#endif
