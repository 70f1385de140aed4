@_spi(Reflection) import Swift

/// A stored property of a view that follows a value outside the view.
public protocol DynamicProperty {
  /// Called before the body is evaluated.
  mutating func update()
}

extension DynamicProperty {
  /// Does nothing.
  public mutating func update() {}
}

/// A property that the host connects with what it keeps for the view.
@MainActor
protocol Installable: DynamicProperty {
  mutating func install(_ installer: Installer)
}

/// Connects the properties of one view.
@MainActor
final class Installer {
  let invalidation: Invalidation
  let environment: EnvironmentValues
  private let node: Node
  private var next = 0

  init(_ node: Node, _ invalidation: Invalidation, _ environment: EnvironmentValues) {
    self.node = node
    self.invalidation = invalidation
    self.environment = environment
  }

  /// What is kept for the present property, made when the view is new.
  func slot<T: AnyObject>(_ make: () -> T) -> T {
    defer { next += 1 }
    if next < node.slots.count, let known = node.slots[next] as? T { return known }
    let made = make()
    node.slots.append(made)
    return made
  }

  // Visits the stored properties in place. The type of each field is the one
  // that the runtime tells, so the memory is bound to it.
  func walk(_ type: Any.Type, _ base: UnsafeMutableRawPointer) {
    var fields: [(any DynamicProperty.Type, Int)] = []
    _ = _forEachField(of: type) { _, offset, field, _ in
      if let property = field as? any DynamicProperty.Type { fields.append((property, offset)) }
      return true
    }
    for (field, offset) in fields { open(field, base + offset) }
  }

  private func open<P: DynamicProperty>(_ type: P.Type, _ pointer: UnsafeMutableRawPointer) {
    if let installable = type as? any Installable.Type {
      install(installable, pointer)
    } else {
      walk(type, pointer)
    }
    pointer.assumingMemoryBound(to: P.self).pointee.update()
  }

  private func install<P: Installable>(_ type: P.Type, _ pointer: UnsafeMutableRawPointer) {
    pointer.assumingMemoryBound(to: P.self).pointee.install(self)
  }
}

extension Pass {
  /// Connects the dynamic properties of a view or a modifier.
  func install<V>(into value: inout V, _ node: Node, _ context: Context) {
    let installer = Installer(node, invalidation, context.environment)
    withUnsafeMutableBytes(of: &value) { bytes in
      if let base = bytes.baseAddress { installer.walk(V.self, base) }
    }
  }
}
