import Contest
import Foundation
import VitrineImaging

// Measures animations: what the last frames of a long GIF cost beside the first, what ten views of it cost beside one,
// and the memory of fifty animations that play at once.

/// A GIF whose frames change a part of the picture.
func movingSquare(width: Int, height: Int, count: Int, seed: Int) -> Data {
  var writer = GIFWriter(width: width, height: height)
  for frame in 0..<count {
    let (left, top) = ((frame * 7 + seed * 13) % (width - 80), (frame * 5 + seed * 29) % (height - 60))
    writer.add { x, y in
      if frame == 0 { return UInt8(((x + y + seed) / 4) % 255) }
      guard x >= left, x < left + 80, y >= top, y < top + 60 else { return 255 }
      return UInt8((x * y / 64 + frame) % 255)
    }
  }
  writer.end()
  return writer.data
}

/// A field of the process's status, in bytes (proc(5)).
func status(_ field: String) -> Int {
  let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
  let line = text.split(separator: "\n").first { $0.hasPrefix(field) }
  return 1024 * (line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0)
}

func text(_ value: Double) -> String { String(format: "%.2f", value) }

say("# Animations\n")

// MARK: The next frame

let long = movingSquare(width: 480, height: 360, count: 500, seed: 1)
say("\n500 frames of 480x360 pixels in a GIF of \(long.count / 1000) KB; processor time of a frame in milliseconds:\n")
say("| | first 100 | last 100 | ratio |")
say("|---|---|---|---|")
var failures = 0
for (name, size) in [("at its own size", nil), ("at 120x90", TargetSize.pixels(120, 90))] {
  var ratios: [Double] = []
  var (first, last): ([Double], [Double]) = ([], [])
  for _ in 0..<5 {
    var source = try FrameSource(long, DecodeOptions(size: size))
    var times: [Double] = []
    for _ in 0..<500 {
      let start = processorTime()
      _ = try source.next()
      times.append(processorTime() - start)
    }
    first.append(times.prefix(100).reduce(0, +) / 100)
    last.append(times.suffix(100).reduce(0, +) / 100)
    ratios.append(last[last.count - 1] / first[first.count - 1])
  }
  let ratio = median(ratios)
  if ratio > 1.2 { failures += 1 }
  say("| \(name) | \(text(median(first) / 1e6)) | \(text(median(last) / 1e6)) | \(text(ratio)) |")
}

// MARK: Ten views

/// Plays an animation in some views for some loops, and returns the processor time in nanoseconds.
func play(_ data: Data, views: Int, loops: Int) async throws -> Double {
  let image = try AnimatedImage(
    data,
    DecodeOptions(size: .pixels(120, 90)),
    budget: FrameBudget(byteLimit: 4_000_000),
  )
  let players = (0..<views).map { _ in AnimationPlayer(image) }
  for player in players { player.play() }
  let start = processorTime()
  var time = Duration.zero
  while players[0].completedLoops < loops {
    for player in players where player.advance(to: time) == nil && player.timeToNextFrame == .zero {
      _ = try await image.frame(at: (player.frameIndex + 1) % image.frameCount)
      _ = player.advance(to: time)
    }
    time += .milliseconds(40)
  }
  return processorTime() - start
}

say("\nTwo loops of it at 120x90 with a budget of 4 MB, which does not hold all frames; processor time in seconds:\n")
let (one, ten) = (try await play(long, views: 1, loops: 2), try await play(long, views: 10, loops: 2))
say("- one view: \(text(one / 1e9))")
say("- ten views: \(text(ten / 1e9))")

// MARK: Fifty at once

let files = (0..<50).map { movingSquare(width: 320, height: 240, count: 60, seed: $0) }
let before = status("VmRSS")
// The highest use so far is forgotten.
if let handle = FileHandle(forWritingAtPath: "/proc/self/clear_refs") { handle.write(Data("5".utf8)) }
let images = try files.map { try AnimatedImage($0, DecodeOptions(size: .pixels(240, 180))) }
let players = images.map(AnimationPlayer.init)
for player in players { player.play() }
let start = processorTime()
var time = Duration.zero
for _ in 0..<180 {
  for (image, player) in zip(images, players) where player.advance(to: time) == nil && player.timeToNextFrame == .zero {
    _ = try await image.frame(at: (player.frameIndex + 1) % image.frameCount)
    _ = player.advance(to: time)
  }
  time += .milliseconds(40)
}
let most = Double(status("VmHWM") - before) / 1e6
if most > 100 { failures += 1 }
say(
  "\n50 animations of 60 frames of 320x240, shown at 240x180, \(files.reduce(0) { $0 + $1.count } / 1_000_000) MB of files:"
)
say("\n- frames, canvases and first frames at most: \(text(most)) MB (the limit is 100)")
say("- frames held at the end: \(FrameBudget.shared.byteCount / 1000) KB")
say("- processor time of \(text(7.2)) s of all of them: \(text((processorTime() - start) / 1e9)) s")
say(failures == 0 ? "\nAll within the limits." : "\n\(failures) over the limits.")
exit(failures == 0 ? 0 : 3)
