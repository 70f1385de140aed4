import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport

/// Bytes that come when the test opens the gate, and a count of how often they were asked for.
final class GatedSource: Sendable {
  private let gate = Gate<Result<Data, any Error>>()
  private let asked = Counter()
  private let id: String

  init(_ id: String = "picture") {
    self.id = id
  }

  var count: Int { asked.count }

  var source: ImageSource {
    .closure(id: id) { [self] in
      asked.increase()
      return try await gate.value().get()
    }
  }

  func hasBegun() async { await asked.reaches(1) }

  func open(_ data: Data) { gate.open(.success(data)) }

  func fail(_ error: any Error) { gate.open(.failure(error)) }
}
