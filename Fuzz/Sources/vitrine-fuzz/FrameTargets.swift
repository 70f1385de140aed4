import Foundation
import VitrineAVIF
import VitrineJXL
import VitrineTIFF

@testable import VitrineImaging

private let registry: DecoderRegistry = {
  var registry = DecoderRegistry.standard
  registry.add(AVIFDecoder())
  registry.add(JXLDecoder())
  registry.add(TIFFDecoder())
  return registry
}()

/// The frames of a file in order and then in any other, each as it is when it is decoded by itself.
@Sendable
func frames(_ data: Data) {
  var options = DecodeOptions()
  options.limits = limits()
  // A file of many frames would take seconds.
  options.limits.frameCount = 40
  if data.count % 3 == 0 { options.size = .pixels(23, 23, .fill) }
  guard var source = try? FrameSource(data, options, decoders: registry) else { return }
  let count = source.info.frameCount
  precondition(source.delays.count == count && source.delays.allSatisfy { $0 >= 0 && $0.isFinite })
  let seed = data.reduce(7 as UInt64) { $0 &* 31 &+ UInt64($1) }
  let jumps = (0..<8).map { Int((seed >> UInt64(8 * $0) & 255)) % count }
  let order = Array(0..<count) + jumps
  for index in order {
    if source.position != index { try? source.seek(to: index) }
    guard let frame = try? source.next() else {
      precondition(source.position == index, "a failure moved the position")
      continue
    }
    precondition(frame.index == index && source.position == index + 1)
    var alone = options
    alone.frame = index
    // By itself it may cost more than the limits allow.
    guard let other = try? registry.decode(data, alone).bitmap else { continue }
    precondition(frame.bitmap.width == other.width && frame.bitmap.height == other.height, "another size by itself")
    // A codec may shrink a frame while it decodes, if that needs no canvas.
    guard options.size == nil else { continue }
    precondition(frame.bitmap.isSeen(as: other), "frame \(index) is another by itself")
  }
}

extension Bitmap {
  /// Returns whether all that is visible is the same.
  fileprivate func isSeen(as other: Bitmap) -> Bool {
    guard width == other.width, height == other.height else { return false }
    return (0..<height).allSatisfy { y in
      (0..<width).allSatisfy { x in
        let (one, two) = (self[x, y], other[x, y])
        return one == two || one.w == 0 && two.w == 0
      }
    }
  }
}
