#if !os(macOS) && !os(watchOS)
public import UIKit
import Vitrine
import VitrineRuntime

extension UIButton {
  /// The loader of the image of the button's normal state.
  ///
  /// ```swift
  /// button.vitrine.showsTemplates = true  // the icon has the tint of the button
  /// button.vitrine.load(icon, placeholder: .symbol("photo"))
  /// ```
  /// A request without a size is decoded no larger than the button. Where the button's configuration has an image, that
  /// one is shown instead.
  public var vitrine: ImageViewLoader { vitrine(for: .normal) }

  /// Returns the loader of the image of a state, which lives as long as the button.
  public func vitrine(for state: UIControl.State) -> ImageViewLoader { loader(of: ButtonPart(state, .image)) }

  /// Returns the loader of the background of a state, which lives as long as the button.
  ///
  /// Backgrounds are decoded to cover the button.
  public func vitrineBackground(for state: UIControl.State = .normal) -> ImageViewLoader {
    loader(of: ButtonPart(state, .background))
  }

  private func loader(of part: ButtonPart) -> ImageViewLoader {
    ImageViewLoader.of(part, of: self) { ButtonPicture(of: self, part) }.loader
  }
}

/// A picture of a button.
private struct ButtonPart: Hashable {
  enum Role { case image, background }

  let state: UInt
  let role: Role

  init(_ state: UIControl.State, _ role: Role) { (self.state, self.role) = (state.rawValue, role) }
}

/// The image or the background of a state of a button.
private final class ButtonPicture: PictureHost {
  private weak var button: UIButton?
  private let part: ButtonPart

  init(of button: UIButton, _ part: ButtonPart) { (self.button, self.part) = (button, part) }

  var fittingMode: TargetSize.Mode { part.role == .image ? .fit : .fill }

  var pixelSize: HostSize? {
    guard let button else { return nil }
    guard part.role == .image else { return button.hostSize }
    // A button is as large as its image wants to be, so its size is only a bound.
    return HostSize(button.bounds.size, scale: max(button.traitCollection.displayScale, 1), isBound: true)
      ?? button.hostSize
  }

  func show(_ image: ImageContainer, isTemplate: Bool, duration: TimeInterval) {
    let picture = UIImage.picture(image, isTemplate: isTemplate)
    button?.fade(duration) { [self] in set(picture) }
  }

  func show(frame: Bitmap) { set(UIImage(frame)) }

  func show(standIn: Placeholder) { set(UIImage.standIn(standIn)) }

  func allow(_ range: DisplayRange) {
    if part.role == .image { button?.imageView?.preferredImageDynamicRange = range.uiRange }
  }

  func watchLayout(_ loader: ImageViewLoader) { button?.addProbe(loader) }

  func makeFrameLink(_ tick: @escaping @MainActor (Duration) -> Void) -> any FrameLink {
    UpdateLink(button ?? UIView(), tick)
  }

  private func set(_ picture: UIImage?) {
    let state = UIControl.State(rawValue: part.state)
    switch part.role {
    case .image: button?.setImage(picture, for: state)
    case .background: button?.setBackgroundImage(picture, for: state)
    }
  }
}
#endif
