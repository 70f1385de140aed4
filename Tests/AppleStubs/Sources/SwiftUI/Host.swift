import Foundation

/// Shows a view without a screen, and lets tests see what is shown.
///
/// A change of state asks for a walk through the views, which `settle()` or
/// `flush()` makes. Appearance closures run after the walk, those of new views
/// before those of views that have left.
@MainActor
public final class _Host<Root: View> {
  private var root: Root
  private let top = Node(type: Never.self)
  private let invalidation = Invalidation()
  private var output = _Output()
  private var isTimed = false
  private var isRendering = false
  private var isMounted = true

  /// How many times the views have been walked through.
  public private(set) var renders = 0
  /// The transaction of the last walk.
  public private(set) var transaction = Transaction()
  /// The date of the clock.
  public private(set) var now = Date(timeIntervalSinceReferenceDate: 0)

  /// The size that a geometry reader gets.
  public var size: CGSize {
    didSet { if size != oldValue { invalidation.mark() } }
  }

  /// The environment of the root.
  public var environment: EnvironmentValues {
    didSet { invalidation.mark() }
  }

  /// Shows a view.
  public init(
    _ root: Root,
    size: CGSize = CGSize(width: 320, height: 480),
    environment: EnvironmentValues = EnvironmentValues(),
  ) {
    self.root = root
    self.size = size
    self.environment = environment
    render()
  }

  /// The texts that are shown, in order.
  public var texts: [String] { output.texts.map(\.string) }
  /// The pictures that are shown, in order.
  public var images: [_RenderedImage] { output.images }
  /// Misuses that the real framework would log.
  public var faults: [String] { invalidation.faults }
  /// Whether a change waits for a walk.
  public var isPending: Bool { isMounted && invalidation.isPending }

  /// Shows another view of the same type, whose state is kept.
  public func update(_ root: Root) {
    self.root = root
    guard isMounted else { return }
    invalidation.mark()
    render()
  }

  /// Makes walks until no change waits, up to a limit.
  public func flush() {
    for _ in 0..<100 where isPending { render() }
  }

  /// Lets tasks run and makes walks until nothing has changed for a while, up to a limit.
  ///
  /// It does not wait for a task that is suspended for another reason.
  public func settle() async {
    var quiet = 0
    for _ in 0..<10_000 where quiet < 25 {
      await yieldOnce()
      quiet = isPending ? 0 : quiet + 1
      flush()
    }
  }

  /// Lets tasks run and makes walks until a condition is met, up to a limit.
  ///
  /// Returns whether the condition is met.
  @discardableResult
  public func settle(until condition: () -> Bool) async -> Bool {
    // A busy machine may take its time to decode; the limit is for what never comes.
    for _ in 0..<1_000_000 {
      flush()
      if condition() { return true }
      await yieldOnce()
    }
    return condition()
  }

  // A trip to the shared pool and back gives tasks that are not on the main
  // actor a chance to run, too.
  private func yieldOnce() async {
    await Task.yield()
    await Task.detached {}.value
  }

  /// Moves the clock, and updates the timeline views.
  public func _advance(by interval: TimeInterval) {
    now = now.addingTimeInterval(interval)
    guard isMounted else { return }
    if isTimed { invalidation.mark() }
    flush()
  }

  private func render() {
    guard isMounted, !isRendering else { return }
    isRendering = true
    renders += 1
    transaction = invalidation.take() ?? Transaction()
    let pass = Pass(number: renders, invalidation: invalidation, now: now)
    let context = Context(environment: environment, transaction: transaction, size: size)
    pass.visit(root, .slot(0), in: top, context)
    pass.sweep(top)
    output = pass.output
    isTimed = pass.isTimed
    isRendering = false
    for action in pass.entering { action() }
    for action in pass.leaving { action() }
  }
}
