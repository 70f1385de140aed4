import Foundation
import VitrineImaging

/// A way to average the pixels of a thumbnail.
private struct Averaging {
  let name: String
  let quality: DecodeQuality
  let usesLinearLight: Bool

  static let all = [
    Averaging(name: "as encoded", quality: .balanced, usesLinearLight: false),
    Averaging(name: "linear light", quality: .balanced, usesLinearLight: true),
    Averaging(name: "linear light, best", quality: .best, usesLinearLight: true),
  ]

  func thumbnail(_ bytes: Data, _ size: Int) -> Bitmap? {
    var options = DecodeOptions(size: .pixels(Double(size), Double(size)))
    (options.quality, options.usesLinearLight) = (quality, usesLinearLight)
    return try? DecoderRegistry.standard.decode(bytes, options).bitmap
  }
}

/// Measures thumbnails in linear light: the decode alone, in this process, and the whole process of vipsthumbnail.
func reportLight(_ photographs: [Input]) {
  let vips = Contestant(name: "vipsthumbnail") { vipsthumbnail($0) + ["--linear"] }
  print("\nLinear light: CPU ms of the decode alone, median of \(lightRounds) in turns; of vipsthumbnail, the process.")
  print("PSNR is that beside \"linear light, best\", which averages the light of all pixels.")
  for input in photographs {
    guard let bytes = try? data(input.path) else { continue }
    for size in [150, 300, 900] {
      guard let best = Averaging.all[2].thumbnail(bytes, size) else { continue }
      var times = [[Double]](repeating: [], count: Averaging.all.count)
      var runs: [Double] = []
      for _ in 0..<lightRounds {
        for (index, averaging) in Averaging.all.enumerated() {
          let start = clock()
          _ = averaging.thumbnail(bytes, size)
          times[index].append(Double(clock() - start) * 1000 / Double(CLOCKS_PER_SEC))
        }
        if let run = measured(vips, input, size) { runs.append(run.cpu) }
      }
      print("\(input.name), \(number(input.megapixels)) megapixels, to \(size) px")
      for (index, averaging) in Averaging.all.enumerated() {
        let psnr = averaging.thumbnail(bytes, size).map { number($0.psnr(against: best)) } ?? "-"
        print("  " + column(averaging.name, 22) + column(number(median(times[index])), 9) + psnr)
      }
      if !runs.isEmpty { print("  " + column("vipsthumbnail --linear", 24) + number(median(runs))) }
      fflush(nil)
    }
  }
}

private let lightRounds = max(5, rounds)

private func median(_ times: [Double]) -> Double { times.sorted()[times.count / 2] }
