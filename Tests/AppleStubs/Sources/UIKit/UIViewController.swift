import CoreGraphics
import Foundation

/// Somebody who looks after a view.
@MainActor
open class UIViewController: UIResponder, UITraitEnvironment, UITraitChangeObservable {
  private var ownView: UIView?
  private var isAppearing = false
  private var isAnimated = false
  private var registrations: [_TraitRegistration] = []

  /// Makes a controller, without a file.
  public init(nibName nibNameOrNil: String?, bundle nibBundleOrNil: Bundle?) {
    super.init()
  }

  /// Makes a controller.
  public override convenience init() {
    self.init(nibName: nil, bundle: nil)
  }

  /// Makes a controller: these stubs read no archives.
  public required init?(coder: NSCoder) {
    super.init()
  }

  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  /// The view, which is made when somebody asks for it.
  open var view: UIView! {
    get {
      loadViewIfNeeded()
      return ownView
    }
    set {
      ownView?.controller = nil
      ownView = newValue
      newValue?.controller = self
    }
  }

  /// The view, if it is made.
  open var viewIfLoaded: UIView? { ownView }

  /// Makes the view.
  open func loadView() {
    view = UIView(frame: UIScreen.main.bounds)
  }

  /// Makes the view unless it is made.
  open func loadViewIfNeeded() {
    guard ownView == nil else { return }
    loadView()
    if ownView != nil { viewDidLoad() }
  }

  /// Hears that the view is made.
  open func viewDidLoad() {}
  /// Hears that the view will appear.
  open func viewWillAppear(_ animated: Bool) {}
  /// Hears that the view is in its place and appears.
  open func viewIsAppearing(_ animated: Bool) {}
  /// Hears that the view has appeared.
  open func viewDidAppear(_ animated: Bool) {}
  /// Hears that the view will disappear.
  open func viewWillDisappear(_ animated: Bool) {}
  /// Hears that the view has disappeared.
  open func viewDidDisappear(_ animated: Bool) {}
  /// Hears that the view will lay out its subviews.
  open func viewWillLayoutSubviews() {}
  /// Hears that the view has laid out its subviews.
  open func viewDidLayoutSubviews() {}
  /// Hears that memory is short.
  open func didReceiveMemoryWarning() {}
  /// Hears that traits have changed.
  open func traitCollectionDidChange(_ previousTraitCollection: UITraitCollection?) {}

  /// Its traits, which are those of the view.
  open var traitCollection: UITraitCollection {
    ownView?.traitCollection ?? UIScreen.main.traitCollection
  }

  /// Tells it that its view begins to appear or to disappear.
  open func beginAppearanceTransition(_ isAppearing: Bool, animated: Bool) {
    self.isAppearing = isAppearing
    isAnimated = animated
    if isAppearing {
      loadViewIfNeeded()
      viewWillAppear(animated)
    } else {
      viewWillDisappear(animated)
    }
  }

  /// Tells it that its view has appeared or disappeared.
  open func endAppearanceTransition() {
    if isAppearing {
      viewIsAppearing(isAnimated)
      viewDidAppear(isAnimated)
    } else {
      viewDidDisappear(isAnimated)
    }
  }

  func traitsChanged(from old: UITraitCollection) {
    traitCollectionDidChange(old)
    for registration in registrations {
      let isTouched = registration.traits.contains { $0._value(in: old) != $0._value(in: traitCollection) }
      if isTouched { registration.run(old) }
    }
  }

  /// Registers a handler of trait changes.
  public func _register(
    _ traits: [UITrait],
    _ run: @escaping @MainActor (UITraitCollection) -> Void,
  ) -> any UITraitChangeRegistration {
    let registration = _TraitRegistration(traits: traits, run: run)
    registrations.append(registration)
    return registration
  }
}
