import Foundation
import Synchronization
import VitrineImaging

/// Cancels each processor at many moments of its work on 12 megapixels; prints how long it takes to stop.
///
/// Returns whether all stop within 10 ms.
func measureCancelling(_ picture: Picture) throws -> Bool {
  let bitmap = try bitmap(ofFile: picture.path, picture.width, picture.height)
  let mark = try bitmap.resized(to: .pixels(width: 200))
  let processors: [ImageProcessor] = [
    .resize(width: 2000), .crop(width: .fraction(0.9), height: .fraction(0.9)), .smartCrop(aspectRatio: 1),
    .smartCrop(aspectRatio: 1, by: .entropy), .circle(), .roundedCorners(radius: 100),
    .border(width: 20, color: .black), .blur(radius: 1.5), .blur(radius: 8), .blur(radius: 40), .blur(radius: 400),
    .sharpen(), .tint(PixelColor(0xFF8000)), .grayscale(), .brightness(0.2), .contrast(1.3), .saturation(1.5),
    .exposure(1), .sepia(), .overlay(mark, .multiply, width: .fraction(0.9)), .background(.white), .flip(.horizontal),
    .rotate(quarterTurns: 1), .rotate(degrees: 7),
  ]
  say("## Cancelled in the middle of 12 MP\n")
  say("The longest time from the cancel to the end, of 20 moments from the beginning to the end.\n")
  say("| | whole, ms | stopped after, ms |\n|---|---:|---:|")
  var worst = 0.0
  for processor in processors {
    let start = ContinuousClock.now
    _ = try processor.process(bitmap)
    let whole = ContinuousClock.now - start
    var most = 0.0
    for moment in 0..<20 {
      let time = stopped(processor, bitmap, after: whole * Double(moment) / 20); most = max(most, time)
    }
    worst = max(worst, most)
    say("| \(processor) | \(text(whole / .milliseconds(1))) | \(text(most)) |")
  }
  say("\nat most 10 ms: \(worst <= 10 ? "kept" : "missed")\n")
  return worst <= 10
}

/// Returns the milliseconds from a cancel until a processor returns or throws.
private func stopped(_ processor: ImageProcessor, _ bitmap: Bitmap, after delay: Duration) -> Double {
  final class Moment: Sendable {
    let cancelled = Mutex<ContinuousClock.Instant?>(nil)
  }
  let (moment, start) = (Moment(), ContinuousClock.now)
  let thread = Thread {
    while ContinuousClock.now - start < delay { usleep(20) }
    moment.cancelled.withLock { $0 = .now }
  }
  thread.start()
  let context = ProcessingContext(isCancelled: { moment.cancelled.withLock { $0 != nil } })
  _ = try? processor.process(bitmap, context)
  let end = ContinuousClock.now
  guard let cancelled = moment.cancelled.withLock({ $0 }) else { return 0 }
  return max(0, (end - cancelled) / .milliseconds(1))
}
