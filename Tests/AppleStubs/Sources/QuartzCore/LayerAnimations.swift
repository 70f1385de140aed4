import Foundation

/// An animation of a layer that is under way.
final class _AnimationRecord {
  let key: String?
  let animation: CAAnimation
  let clock: _Clock
  let context: _AnimationContext?
  var hasEnded = false

  init(key: String?, animation: CAAnimation, clock: _Clock) {
    self.key = key
    self.animation = animation
    self.clock = clock
    context = animation._context
    clock.count(1)
    context?.enter()
  }

  func end(finished: Bool) {
    guard !hasEnded else { return }
    hasEnded = true
    clock.count(-1)
    animation.delegate?.animationDidStop(animation, finished: finished)
    context?.leave(finished: finished)
  }
}

extension CALayer {
  /// Adds a copy of an animation, in place of the one with the same key.
  ///
  /// A transition always has the key `kCATransition`.
  public func add(_ anim: CAAnimation, forKey key: String?) {
    guard let animation = anim.copy() as? CAAnimation else { return }
    let clock = _Clock._current
    if animation.duration == 0 { animation.duration = 0.25 }
    if animation.beginTime == 0 { animation.beginTime = clock._now }
    let key = animation is CATransition ? kCATransition : key
    if let key { removeAnimation(forKey: key) }
    let record = _AnimationRecord(key: key, animation: animation, clock: clock)
    records.append(record)
    let wait = animation.beginTime - clock._now
    clock._schedule(after: wait) {
      if !record.hasEnded { animation.delegate?.animationDidStart(animation) }
    }
    let length = animation.activeDuration
    guard length.isFinite else { return }
    clock._schedule(after: wait + length) { [weak self] in
      guard !record.hasEnded else { return }
      if animation.isRemovedOnCompletion { self?.records.removeAll { $0 === record } }
      record.end(finished: true)
    }
  }

  /// Removes an animation, which thereby ends unfinished.
  public func removeAnimation(forKey key: String) {
    let removed = records.filter { $0.key == key }
    records.removeAll { $0.key == key }
    for record in removed { record.end(finished: false) }
  }

  /// Removes all animations, which thereby end unfinished.
  public func removeAllAnimations() {
    let removed = records
    records = []
    for record in removed { record.end(finished: false) }
  }

  /// The keys of all animations.
  public func animationKeys() -> [String]? {
    let keys = records.compactMap(\.key)
    return keys.isEmpty ? nil : keys
  }

  /// Removes the animations of this layer and of all layers inside.
  ///
  /// The system does so when a layer leaves the screen.
  public func _removeAnimationsInTree() {
    removeAllAnimations()
    for child in children { child._removeAnimationsInTree() }
  }

  func changed(_ key: String, from oldValue: Any?) {
    _Clock._current._requestUpdate()
    guard superlayer != nil || _isBackingLayer else { return }
    guard let action = action(forKey: key) else { return }
    if let animation = action as? CABasicAnimation, animation.keyPath == key, animation.fromValue == nil {
      animation.fromValue = value(forKey: key, model: oldValue)
    }
    action.run(forKey: key, object: self, arguments: nil)
  }

  private func value(forKey key: String, model: Any?) -> Any? {
    var result = model
    for record in records {
      guard let animation = record.animation as? CAPropertyAnimation, animation.keyPath == key else { continue }
      if let value = animation.value(at: record.clock._now, model: model) { result = value }
    }
    return result
  }
}
