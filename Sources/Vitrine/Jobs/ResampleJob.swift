import VitrineImaging
import VitrineRuntime

/// An image made of a larger one of the same source that was at hand, on the process queue.
final class ResampleJob: StageJob, @unchecked Sendable {
  // @unchecked: like its superclass, guarded by the engine's lock.
  private let source: String
  private let larger: CachedImage
  private let plan: SamplingPlan
  private let rendition: Rendition
  private let limits: DecodeLimits
  private let context: JobContext
  private let stored: @Sendable (CachedImage) -> Void

  /// `stored` is called with the image before anyone gets it.
  init(
    source: String,
    larger: LargerVariant,
    limits: DecodeLimits,
    context: JobContext,
    stored: @escaping @Sendable (CachedImage) -> Void,
    onEnd: @escaping (inout Turn) -> Void,
  ) {
    (self.source, self.limits, self.context, self.stored) = (source, limits, context, stored)
    (self.larger, plan, rendition) = (larger.image, larger.plan, larger.rendition)
    super.init(onEnd: onEnd)
  }

  override func start(_ turn: inout Turn) {
    trace = context.recorder?.stage("resample", source)
    let (source, larger, plan, rendition, limits, stored) = (source, larger, plan, rendition, limits, stored)
    work(on: context.processQueue, context.engine, &turn) { item in
      do throws(ImageError) {
        let info = larger.info
        let bitmap = try larger.image.resampled(
          plan,
          of: (info.width, info.height),
          filter: rendition.filter,
          linearLight: rendition.linearLight,
          limits: limits,
          isCancelled: { item.isCancelled },
        )
        let image = larger.resampled(bitmap, rendition)
        stored(image)
        return .success(image)
      } catch {
        return .failure(
          error.isCancellation
            ? LoadError(.cancelled, .process, source, "cancelled")
            : LoadError(.processingFailed, .process, source, error.detail, cause: error)
        )
      }
    } refused: {
      LoadError(.overloaded, .process, source, "too much is waiting to be processed")
    }
  }
}

/// An image in memory that has all that is asked for, and how to make that of it.
struct LargerVariant {
  let image: CachedImage
  let plan: SamplingPlan
  let rendition: Rendition

  /// Finds out whether `image` shows all of its source, in pixels enough for `options`, with one to spare for rounding.
  init?(_ image: CachedImage, for options: DecodeOptions) {
    let info = image.info
    let wanted = Rendition(of: info, options)
    guard let rendition = image.rendition, rendition.isWhole, rendition.isLike(wanted),
      rendition.quality.oversampling >= options.quality.oversampling,
      let plan = try? SamplingPlan(options.size, width: info.width, height: info.height)
    else { return nil }
    let needed = (Double(info.width) * plan.scales.x, Double(info.height) * plan.scales.y)
    guard Double(image.image.width) + 1 >= needed.0, Double(image.image.height) + 1 >= needed.1 else { return nil }
    (self.image, self.plan) = (image, plan)
    self.rendition = wanted
  }
}
