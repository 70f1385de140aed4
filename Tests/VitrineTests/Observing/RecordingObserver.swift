import Vitrine
import VitrineRuntime
import VitrineTesting

/// Notes every event as a line, and can be waited for.
final class RecordingObserver: PipelineObserver {
  struct Line: Sendable {
    let text: String
    let stage: RequestMetrics.Stage?
  }

  private let state = Watched<[Line]>([])

  var lines: [String] { state.value.map(\.text) }
  /// The stage of each event that has one.
  var stages: [RequestMetrics.Stage] { state.value.compactMap(\.stage) }

  func wait(until condition: @escaping @Sendable ([String]) -> Bool) async {
    await state.wait { condition($0.map(\.text)) }
  }

  private func add(_ text: String, _ stage: RequestMetrics.Stage? = nil) {
    state.change { $0.append(Line(text: text, stage: stage)) }
  }

  func observe(_ event: PipelineEvent) {
    switch event {
    case .requestBegan(_, let stage): add("request began", stage)
    case .stageBegan(let stage): add("\(stage.kind) began", stage)
    case .stageJoined(let stage, _): add("\(stage.kind) joined", stage)
    case .phaseBegan(let stage): add("\(stage.kind) \(stage.phases.last?.name ?? "no phase")", stage)
    case .noted(let fact, let stage): add("\(stage.kind) noted \(fact)", stage)
    case .stageEnded(let stage): add("\(stage.kind) ended", stage)
    case .requestEnded(.image(let response), let stage):
      add("request ended with an image from \(response.origin)", stage)
    case .requestEnded(.data(let count), let stage): add("request ended with \(count) bytes", stage)
    case .requestEnded(.failure(let error), let stage): add("request failed: \(error.code)", stage)
    case .requestsMissed(let count): add("missed \(count)")
    }
  }
}
