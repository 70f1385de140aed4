package import VitrineRuntime

extension WorkQueue {
  /// Takes all slots, so that nothing starts until the gate is opened.
  package func hold() throws -> Gate<Void> {
    let (gate, begun, width) = (Gate<Void>(), Record<Int>(), width)
    for number in 0..<width {
      try enqueue(priority: .veryHigh) { _ in
        begun.add(number)
        gate.wait()
      }
    }
    begun.wait(for: width)
    return gate
  }
}
