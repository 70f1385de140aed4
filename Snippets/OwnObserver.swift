// Counts the requests of a pipeline, and times its stages.

import Synchronization
import Vitrine

// snippet.show
final class Meter: PipelineObserver {
  struct Totals {
    var requests: [String: Int] = [:]
    var work: [StageKind: Duration] = [:]
    var waiting: [StageKind: Duration] = [:]
  }

  let totals = Mutex(Totals())

  func observe(_ event: PipelineEvent) {
    totals.withLock { totals in
      switch event {
      case .stageEnded(let stage):
        totals.work[stage.kind, default: .zero] += stage.duration ?? .zero
        totals.waiting[stage.kind, default: .zero] += stage.waiting
      case .requestEnded(.failure(let error), _): totals.requests["\(error.code)", default: 0] += 1
      case .requestEnded(.image(let response), _): totals.requests["\(response.origin)", default: 0] += 1
      default: break
      }
    }
  }
}

let meter = Meter()
let pipeline = ImagePipeline { $0.observers = [meter] }
// snippet.hide
