import VitrineImaging
import VitrineRuntime

/// One step of processing: the image of the step before, changed on the process queue.
final class ProcessJob: StageJob, @unchecked Sendable {
  // @unchecked: like its superclass, guarded by the engine's lock.
  private let source: String
  private let processor: ImageProcessor
  private let context: JobContext
  private let input: (inout Turn) -> Job<CachedImage, LoadError>
  private let stored: @Sendable (CachedImage) -> Void

  /// `input` gives the job of the step before; `stored` is called with the image before anyone gets it.
  init(
    source: String,
    processor: ImageProcessor,
    context: JobContext,
    input: @escaping (inout Turn) -> Job<CachedImage, LoadError>,
    stored: @escaping @Sendable (CachedImage) -> Void,
    onEnd: @escaping (inout Turn) -> Void,
  ) {
    (self.source, self.processor, self.context) = (source, processor, context)
    (self.input, self.stored) = (input, stored)
    super.init(onEnd: onEnd)
  }

  override func start(_ turn: inout Turn) {
    trace = context.recorder?.stage("process", source)
    trace?.note("processor", .text(processor.identifier))
    wait(for: input(&turn), &turn) { [weak self] result, turn in
      guard let self else { return }
      switch result {
      case .success(let image): process(image, &turn)
      case .failure(let error): finish(.failure(error), &turn)
      }
    }
  }

  private func process(_ image: CachedImage, _ turn: inout Turn) {
    let (source, processor, stored) = (source, processor, stored)
    work(on: context.processQueue, context.engine, &turn) { _ in
      do {
        let processed = image.processed(try processor.process(image.image))
        stored(processed)
        return .success(processed)
      } catch {
        return .failure(
          LoadError(.processingFailed, .process, source, "\(processor.identifier): \(error)", cause: error)
        )
      }
    } refused: {
      LoadError(.overloaded, .process, source, "too much is waiting to be processed")
    }
  }
}
