import Foundation

/// A lone image by the clock: what one person waits for while the other cores have nothing to do.
///
/// The tables of the formats measure one thread, as in a batch.
struct ClockRow {
  let contestant: Contestant
  /// The program whose time is compared with it, and the ratio aimed at.
  var peer: (contestant: Contestant, goal: Double)?
}

private func tool(_ name: String, _ arguments: [String] = []) -> Contestant {
  Contestant(name: name) { [vitrine, "thumbnail", $0.input.path, "-o", $0.output, "--size", "\($0.size)"] + arguments }
}

private let lone = tool("vitrine, lone")
private let oneThread = tool("vitrine, --jobs 1", ["--jobs", "1"])
/// Of the whole image; without -p it takes the embedded thumbnail, like `--quality-mode fast`.
private let heifThumbnailer = Contestant(name: "heif-thumbnailer -p", fileExtension: "png") {
  ["heif-thumbnailer", "-p", "-s", "\($0.size)", $0.input.path, $0.output]
}
private let heifEmbedded = Contestant(name: "heif-thumbnailer", fileExtension: "png") {
  ["heif-thumbnailer", "-s", "\($0.size)", $0.input.path, $0.output]
}
private let fastLone = tool("vitrine, fast", ["--quality-mode", "fast"])
/// It makes no thumbnails; the whole image goes into memory.
private let djxl = Contestant(name: "djxl, whole to PPM", fileExtension: "ppm") {
  ["djxl", $0.input.path, $0.output]
}
private let dwebp = Contestant(name: "dwebp -scale", fileExtension: "png") {
  ["dwebp", "-quiet", $0.input.path, "-o", $0.output] + scaled($0)
}
private let dwebpThreads = Contestant(name: "dwebp -mt -scale", fileExtension: "png") {
  ["dwebp", "-quiet", "-mt", $0.input.path, "-o", $0.output] + scaled($0)
}
private let avifdec = Contestant(name: "avifdec -j all, whole", fileExtension: "y4m") {
  ["avifdec", "-j", "all", $0.input.path, $0.output]
}

/// Whole, to the format that the others write, too: of 300 px that is the thumbnail.
private let avifdecPNG = Contestant(name: "avifdec, to PNG", fileExtension: "png") {
  ["avifdec", "-j", "all", $0.input.path, $0.output]
}
private let lonePNG = Contestant(name: "vitrine, to PNG", fileExtension: "png") {
  [vitrine, "thumbnail", $0.input.path, "-o", $0.output, "--size", "\($0.size)"]
}

private let rsvg = Contestant(name: "rsvg-convert", fileExtension: "png") {
  ["rsvg-convert", "-a", "-w", "\($0.size)", "-h", "\($0.size)", $0.input.path, "-o", $0.output]
}

private func scaled(_ job: Job) -> [String] {
  job.input.isWide ? ["-scale", "\(job.size)", "0"] : ["-scale", "0", "\(job.size)"]
}

private let rows: [(kind: Kind, title: String, rows: [ClockRow])] = [
  (
    .heic, "HEIC",
    [
      ClockRow(contestant: lone, peer: (heifThumbnailer, 1)), ClockRow(contestant: oneThread),
      ClockRow(contestant: fastLone), ClockRow(contestant: heifThumbnailer), ClockRow(contestant: heifEmbedded),
      ClockRow(contestant: pixbuf),
    ],
  ),
  (
    .avif, "AVIF",
    [
      ClockRow(contestant: lone, peer: (avifdec, 1)), ClockRow(contestant: oneThread), ClockRow(contestant: avifdec),
      ClockRow(contestant: pixbuf),
    ],
  ),
  (
    .jxl, "JPEG XL",
    [ClockRow(contestant: lone, peer: (djxl, 1)), ClockRow(contestant: oneThread), ClockRow(contestant: djxl)],
  ),
  (
    .webP, "WebP",
    [
      ClockRow(contestant: lone, peer: (dwebp, 1)), ClockRow(contestant: oneThread, peer: (dwebp, 1.05)),
      ClockRow(contestant: dwebp), ClockRow(contestant: dwebpThreads), ClockRow(contestant: pixbuf),
    ],
  ),
]

/// Measures lone images to 300 px, and the first small one of formats for which the tool starts a codec process.
func reportByTheClock(_ photographs: [Input]) {
  print("\nA lone image by the clock, to 300 px: wall and CPU ms, the least of \(clockRounds) rounds in turns")
  for (kind, title, rows) in rows {
    for input in inputs(kind, photographs) {
      var reference = Reference(input)
      compare(rows, input, title) { reference?.psnr(of: $0) }
      fflush(nil)
    }
  }
  let first: [(kind: Kind, peer: Contestant, goal: Double)] = [
    (.avif, avifdecPNG, 1.2), (.heic, heifThumbnailer, 1.2), (.svg, rsvg, 2.5), (.baseline, pixbuf, 1.5),
  ]
  for (kind, peer, goal) in first {
    guard let small = small(kind, photographs) else { continue }
    compare(
      [
        ClockRow(contestant: lone), ClockRow(contestant: lonePNG, peer: (peer, goal)), ClockRow(contestant: peer),
      ] + (peer.name == pixbuf.name ? [] : [ClockRow(contestant: pixbuf)]),
      small,
      "first \(kind.rawValue) of 300 px",
    ) { _ in nil }
  }
}

private let clockRounds = max(5, rounds)

private func compare(_ rows: [ClockRow], _ input: Input, _ title: String, _ psnr: (String) -> Double?) {
  print("\(title): \(input.name), \(number(Double(input.byteCount) / 1e6)) MB, \(number(input.megapixels)) megapixels")
  print("  " + column("", 24) + column("wall ms", 9) + column("CPU ms", 9) + column("peak MB", 9) + "PSNR dB")
  let able = rows.filter { measured($0.contestant, input, 300) != nil }
  var runs: [String: [Run]] = [:]
  for _ in 0..<clockRounds {
    for row in able {
      if let run = measured(row.contestant, input, 300) { runs[row.contestant.name, default: []].append(run) }
    }
  }
  for row in rows {
    guard let run = runs[row.contestant.name]?.least else {
      print("  \(column(row.contestant.name, 24))failed")
      continue
    }
    let isThumbnail = ["jpg", "png"].contains(row.contestant.fileExtension)
    let quality =
      isThumbnail && measured(row.contestant, input, 300, as: "png") != nil
      ? psnr(row.contestant.target("png")) : nil
    print(
      "  " + column(row.contestant.name, 24) + column(number(run.wall), 9) + column(number(run.cpu), 9)
        + column(number(run.peak), 9) + (quality.map { number($0) } ?? "-")
    )
  }
  for row in rows {
    guard let (peer, goal) = row.peer, let own = runs[row.contestant.name]?.least,
      let other = runs[peer.name]?.least
    else { continue }
    let ratio = own.wall / other.wall
    print(
      "  \(row.contestant.name) beside \(peer.name): \(number(ratio, 2)), at most \(number(goal, 2)): "
        + (ratio <= goal ? "met" : "MISSED")
    )
  }
}

private func small(_ kind: Kind, _ photographs: [Input]) -> Input? {
  guard let source = photographs.first else { return nil }
  let upright = scratch.appending(path: "small.png").path
  let target = scratch.appending(path: "small.\(kind.fileExtension)").path
  guard output(["vipsthumbnail", source.path, "--size", "300x300", "-o", "\(upright)[strip]"]).status == 0,
    output(kind.isJPEG ? ["vips", "copy", upright, target] : kind.encode(source.path, upright: upright, to: target))
      .status == 0
  else { return nil }
  return Input(target, kind)
}
