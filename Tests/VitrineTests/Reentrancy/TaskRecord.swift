import VitrineRuntime

@testable import Vitrine

/// What one task has told, in order.
final class TaskRecord: Sendable {
  private enum Line: Hashable, CustomStringConvertible {
    case progress(Int)
    case preview
    case end(String)

    var isEnd: Bool { if case .end = self { true } else { false } }

    var description: String {
      switch self {
      case .progress(let completed): "progress \(completed)"
      case .preview: "preview"
      case .end(let what): "end: \(what)"
      }
    }
  }

  let name: String
  private let lines = Lock<[Line]>([])

  init(_ name: String) { self.name = name }

  var isEnded: Bool { lines.withLock { $0.contains(where: \.isEnd) } }

  func note(_ event: ImageEvent) {
    let line: Line =
      switch event {
      case .progress(let progress): .progress(progress.completed)
      case .preview: .preview
      case .finished(.success(let response)): .end("image from \(response.origin)")
      case .finished(.failure(let error)): .end("\(error.code)")
      }
    lines.withLock { $0.append(line) }
  }

  /// What is wrong with it: it must end once, tell nothing afterwards, and its progress never goes back.
  var complaint: String? {
    let lines = lines.withLock { $0 }
    let counts = lines.compactMap { if case .progress(let count) = $0 { count } else { nil } }
    let isInOrder = lines.dropLast().allSatisfy { !$0.isEnd } && lines.last?.isEnd == true
    return isInOrder && counts == counts.sorted() ? nil : "'\(name)' was told \(lines)"
  }
}
