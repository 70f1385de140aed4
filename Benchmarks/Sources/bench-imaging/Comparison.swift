import Foundation

/// The cost of one contestant for one file.
struct Result {
  let run: Run
  /// Milliseconds of CPU time above that for a tiny image.
  let work: Double
  /// Decibels.
  let psnr: Double
  /// Megabytes above those for a tiny image and the file.
  let above: Double
}

/// All contestants on all files of one kind, at one size.
struct Comparison {
  let kind: Kind
  let size: Int
  private(set) var results: [String: [Result]] = [:]
  private var fileCount = 0
  /// Megabytes of the smallest image as RGBA.
  private(set) var fullBitmap = Double.infinity

  init(_ kind: Kind, _ size: Int) { (self.kind, self.size) = (kind, size) }

  mutating func add(_ input: Input, _ reference: inout Reference, _ start: StartUp) {
    fileCount += 1
    fullBitmap = min(fullBitmap, input.megapixels * 4e6 / 1_048_576)
    // The first thumbnail measures the quality, and brings the files into memory.
    let able = kind.contestants.filter { measured($0, input, size, as: "png") != nil }
    var runs: [String: [Run]] = [:]
    // In turns, so that a machine that slows down affects all of them alike.
    for _ in 0..<rounds {
      for contestant in able {
        if let run = measured(contestant, input, size) { runs[contestant.name, default: []].append(run) }
      }
    }
    print(
      "\(input.name), \(number(Double(input.byteCount) / 1e6)) MB, \(number(input.megapixels)) megapixels, "
        + "to \(size) px"
    )
    print("  " + column("", 22) + column("CPU ms", 9) + column("wall ms", 9) + column("peak MB", 9) + "PSNR dB")
    for contestant in kind.contestants {
      guard let run = runs[contestant.name]?.least else {
        print("  \(column(contestant.name, 22))failed")
        continue
      }
      let psnr = reference.psnr(of: contestant.target("png"))
      let started = start.run(contestant, kind) ?? Run(cpu: 0, wall: 0, peak: 0)
      let above = run.peak - started.peak - Double(input.byteCount) / 1_048_576
      // With equal values the difference is noise without meaning.
      let work = max(0.1, run.cpu - started.cpu)
      results[contestant.name, default: []].append(Result(run: run, work: work, psnr: psnr ?? .nan, above: above))
      print(
        "  " + column(contestant.name, 22) + column(number(run.cpu), 9) + column(number(run.wall), 9)
          + column(number(run.peak), 9) + (psnr.map { number($0) } ?? "-")
      )
    }
    keepPictures(of: input)
  }

  /// Keeps the thumbnails for inspection if `PICTURES` names a folder.
  private func keepPictures(of input: Input) {
    guard let folder = environment["PICTURES"] else { return }
    for contestant in kind.contestants {
      let name = "\(input.name)-\(size)-\(contestant.name.filter(\.isLetter)).png"
      try? FileManager.default.copyItem(atPath: contestant.target("png"), toPath: "\(folder)/\(name)")
    }
  }

  func cpu(_ contestant: Contestant) -> Double? { mean(contestant, \.run.cpu) }
  func work(_ contestant: Contestant) -> Double? { mean(contestant, \.work) }
  func peak(_ contestant: Contestant) -> Double? { mean(contestant, \.run.peak) }

  /// The lowest quality, ignoring images of a single colour.
  func quality(_ contestant: Contestant) -> Double? { results[contestant.name]?.map(\.psnr).filter(\.isFinite).min() }
  func above(_ contestant: Contestant) -> Double? { results[contestant.name]?.map(\.above).max() }

  private func mean(_ contestant: Contestant, _ part: KeyPath<Result, Double>) -> Double? {
    // A contestant that cannot read all files is not compared.
    guard let all = results[contestant.name], all.count == fileCount, fileCount > 0 else { return nil }
    return geometricMean(all.map { $0[keyPath: part] })
  }

  func report() {
    print("\n\(kind.rawValue) to \(size) px: geometric means over \(fileCount) files")
    print(
      "  " + column("", 22) + column("CPU ms", 9) + column("above", 8) + column("wall ms", 9) + column("peak MB", 9)
        + column("above", 8) + "least PSNR dB"
    )
    for contestant in kind.contestants {
      guard let cpu = cpu(contestant), let work = work(contestant), let wall = mean(contestant, \.run.wall),
        let peak = peak(contestant)
      else {
        let count = results[contestant.name]?.count ?? 0
        print("  \(column(contestant.name, 22))\(count == 0 ? "does not read it" : "reads \(count) of them")")
        continue
      }
      print(
        "  " + column(contestant.name, 22) + column(number(cpu), 9) + column(number(work), 8) + column(number(wall), 9)
          + column(number(peak), 9) + column(number(above(contestant) ?? .nan), 8)
          + (quality(contestant).map { number($0) } ?? "-")
      )
    }
  }
}
