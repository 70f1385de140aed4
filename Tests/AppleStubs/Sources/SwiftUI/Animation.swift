import Foundation

/// How a change is animated.
///
/// The host does not animate; it tells which animation a change had.
public struct Animation: Equatable, Sendable, CustomStringConvertible {
  /// What the animation is, in words.
  public let description: String

  private func adding(_ text: String) -> Animation {
    Animation(description: description + text)
  }

  /// The default animation.
  public static let `default` = Animation(description: "default")
  /// A constant speed.
  public static let linear = linear(duration: 0.35)
  /// A slow start.
  public static let easeIn = easeIn(duration: 0.35)
  /// A slow end.
  public static let easeOut = easeOut(duration: 0.35)
  /// A slow start and a slow end.
  public static let easeInOut = easeInOut(duration: 0.35)
  /// The movement of a spring.
  public static let spring = spring()

  /// A constant speed for a time.
  public static func linear(duration: TimeInterval) -> Animation {
    Animation(description: "linear(\(duration))")
  }

  /// A slow start, for a time.
  public static func easeIn(duration: TimeInterval) -> Animation {
    Animation(description: "easeIn(\(duration))")
  }

  /// A slow end, for a time.
  public static func easeOut(duration: TimeInterval) -> Animation {
    Animation(description: "easeOut(\(duration))")
  }

  /// A slow start and a slow end, for a time.
  public static func easeInOut(duration: TimeInterval) -> Animation {
    Animation(description: "easeInOut(\(duration))")
  }

  /// The movement of a spring.
  public static func spring(
    response: Double = 0.5,
    dampingFraction: Double = 0.825,
    blendDuration: TimeInterval = 0,
  ) -> Animation {
    Animation(description: "spring(\(response), \(dampingFraction), \(blendDuration))")
  }

  /// The same animation that starts later.
  public func delay(_ delay: TimeInterval) -> Animation {
    adding(".delay(\(delay))")
  }

  /// The same animation at another speed.
  public func speed(_ speed: Double) -> Animation {
    adding(".speed(\(speed))")
  }

  /// The same animation some times over.
  public func repeatCount(_ repeatCount: Int, autoreverses: Bool = true) -> Animation {
    adding(".repeatCount(\(repeatCount), \(autoreverses))")
  }

  /// The same animation over and over.
  public func repeatForever(autoreverses: Bool = true) -> Animation {
    adding(".repeatForever(\(autoreverses))")
  }
}

/// How a view comes and goes.
///
/// The host does not animate: a view that leaves is gone at once.
public struct AnyTransition {
  /// What the transition is, in words.
  public let _description: String

  /// No transition.
  public static let identity = AnyTransition(_description: "identity")
  /// A fade.
  public static let opacity = AnyTransition(_description: "opacity")
  /// A change of size.
  public static var scale: AnyTransition { AnyTransition(_description: "scale") }
  /// A movement in and out.
  public static var slide: AnyTransition { AnyTransition(_description: "slide") }

  /// A change of size by a factor.
  public static func scale(scale: CGFloat, anchor: UnitPoint = .center) -> AnyTransition {
    AnyTransition(_description: "scale(\(scale))")
  }

  /// A movement from and to an edge.
  public static func move(edge: Edge) -> AnyTransition {
    AnyTransition(_description: "move(\(edge))")
  }

  /// One transition to come and another to go.
  public static func asymmetric(insertion: AnyTransition, removal: AnyTransition) -> AnyTransition {
    AnyTransition(_description: "asymmetric(\(insertion._description), \(removal._description))")
  }

  /// Both transitions.
  public func combined(with other: AnyTransition) -> AnyTransition {
    AnyTransition(_description: "\(_description)+\(other._description)")
  }

  /// The same transition with an animation.
  public func animation(_ animation: Animation?) -> AnyTransition {
    AnyTransition(_description: "\(_description).animation(\(animation?.description ?? "nil"))")
  }
}

// Unchecked is not needed: a transition here is only text.
extension AnyTransition: Sendable {}
