import Vitrine
import VitrineRuntime
import VitrineTesting

/// Notes every event as a line, and can be waited for.
final class RecordingObserver: PipelineObserver {
  struct Line: Sendable {
    let text: String
    let event: PipelineEvent?
  }

  private let state = Watched<[Line]>([])

  var lines: [String] { state.value.map(\.text) }
  var events: [PipelineEvent] { state.value.compactMap(\.event) }

  func wait(until condition: @escaping @Sendable ([String]) -> Bool) async {
    await state.wait { condition($0.map(\.text)) }
  }

  private func add(_ text: String, _ event: PipelineEvent? = nil) {
    state.change { $0.append(Line(text: text, event: event)) }
  }

  func requestBegan(_ request: ImageRequest, _ event: PipelineEvent) { add("request began", event) }
  func stageBegan(_ event: PipelineEvent) { add("\(event.kind) began", event) }
  func stageJoined(by request: Int, _ event: PipelineEvent) { add("\(event.kind) joined", event) }
  func phaseBegan(_ phase: String, _ event: PipelineEvent) { add("\(event.kind) \(phase)", event) }
  func noted(_ fact: String, _ event: PipelineEvent) { add("\(event.kind) noted \(fact)", event) }
  func stageEnded(_ event: PipelineEvent) { add("\(event.kind) ended", event) }
  func requestEnded(_ outcome: PipelineOutcome, _ event: PipelineEvent) {
    switch outcome {
    case .image(let response): add("request ended with an image from \(response.origin)", event)
    case .data(let count): add("request ended with \(count) bytes", event)
    case .failure(let error): add("request failed: \(error.code)", event)
    }
  }
  func requestsMissed(_ count: Int) { add("missed \(count)") }
}
