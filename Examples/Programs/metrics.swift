// metrics URL...: counts where images came from, and how long the stages worked.
import Synchronization
import Vitrine

final class Meter: PipelineObserver {
  let totals = Mutex((origins: [String: Int](), work: [StageKind: Duration]()))

  func observe(_ event: PipelineEvent) {
    totals.withLock { totals in
      switch event {
      case .stageEnded(let stage): totals.work[stage.kind, default: .zero] += stage.duration ?? .zero
      case .requestEnded(.image(let response), _): totals.origins["\(response.origin)", default: 0] += 1
      case .requestEnded(.failure(let error), _): totals.origins["\(error.code)", default: 0] += 1
      default: break
      }
    }
  }
}

@main
enum Metrics {
  static func main() async {
    let meter = Meter()
    let pipeline = ImagePipeline { $0.observers = [meter] }
    _ = await ImagePrefetcher(pipeline).load(CommandLine.arguments.dropFirst().map { ImageRequest(url: $0) })
    meter.totals.withLock { totals in
      for (origin, count) in totals.origins.sorted(by: { $0.key < $1.key }) { print(origin, count) }
      for (stage, time) in totals.work.sorted(by: { $0.value > $1.value }) { print(stage, time) }
    }
  }
}
