import CGTK
import Vitrine
import VitrineGTK
import VitrineRuntime

/// The frames of one picture as they were painted, beside the delays of its file.
@MainActor
final class FrameLog {
  let picture: RemotePicture
  /// The frame on the screen, and when it came there; `nil` if that was before the log began.
  private var shown: (index: Int, time: Int?)?
  /// The difference between the time for which a frame was on the screen and its delay, in microseconds.
  private(set) var deviations: [Int] = []
  /// The frames that were never painted.
  private(set) var dropped = 0
  /// The time of all frames on the screen, and the sum of their delays, in microseconds.
  private(set) var elapsed = 0
  private(set) var expected = 0

  init(_ picture: RemotePicture) { self.picture = picture }

  /// Notes what has just been painted.
  func painted(at time: Int) {
    guard let player = picture.player else { return }
    guard let last = shown else { return shown = (player.frameIndex, nil) }
    guard player.frameIndex != last.index else { return }
    defer { shown = (player.frameIndex, time) }
    guard let since = last.time else { return }
    let count = player.image.frameCount
    let step = (player.frameIndex - last.index + count) % count
    dropped += step - 1
    // What was skipped should have been on the screen meanwhile.
    let delays = (0..<step).map { player.image.delays[(last.index + $0) % count] }
    let delay = Int((delays.reduce(0, +) * 1e6).rounded())
    deviations.append(time - since - delay)
    elapsed += time - since
    expected += delay
  }
}

/// Plays animations in real widgets, and measures their speed, and the cost of fifty at once.
@MainActor
@safe
final class AnimationRun {
  /// The highest cost of fifty animations in a window.
  static let limits = (memory: 100_000_000, hold: 4000)
  private static let rounds = 3
  /// The number of animations that play at once.
  private static let count = 50
  /// The time for which a file is watched, and a window, in seconds.
  private static let watch = 6

  private let files: AnimationFiles
  private let window: Window
  private let frames: FrameMeter
  private var isGood = true

  init(_ files: AnimationFiles, _ window: Window) {
    (self.files, self.window, frames) = (files, window, FrameMeter(window))
  }

  /// Runs all, prints the results, and returns `true` if all limits are held.
  func run(screenshot: String?) async -> Bool {
    print("# Animations in a window\n")
    print("Xvfb, drawn by GTK in software.")
    print("\n## Speed\n\nEach file alone for \(Self.watch) s, at 320x240; a frame of the display is 16.7 ms.\n")
    print("| file | frames | painted | dropped | mean deviation | worst | speed |")
    print("|---|---|---|---|---|---|---|")
    for file in files.all { await watchAlone(file) }
    print(
      "\n## \(Self.count) at once\n\nDifferent animations at 120x90 in one window for \(Self.watch) s, and the same as stills."
    )
    print("Memory is the highest of the process from before the files are loaded; time is of the main thread.")
    print("\"Others\" is the share of the processors that other programs had meanwhile, Xvfb and builds among them.\n")
    print(
      "| round | others | stills | animations | beyond stills | longest hold | by the clock "
        + "| painted | dropped | mean deviation | worst | speed | mean frame |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    for round in 1...Self.rounds { await compare(round, screenshot: screenshot) }
    print(
      "\nLimits: \(Self.limits.memory / 1_000_000) MB beyond stills, \(Self.limits.hold / 1000) ms of processor time a turn."
    )
    print(isGood ? "All are held." : "Not all are held.")
    return isGood
  }

  // MARK: One

  private func watchAlone(_ file: AnimationFiles.File) async {
    let pictures = show([file.request("alone")], width: 320, height: 240, animates: true)
    await allShown(pictures)
    playEndlessly(pictures)
    let logs = pictures.map(FrameLog.init)
    await observe(logs)
    let log = logs[0]
    let frames = pictures[0].player?.image.frameCount ?? 0
    print(
      "| \(file.name) | \(frames) | \(log.deviations.count) | \(log.dropped) | \(Self.deviations(logs)) "
        + "| \(Self.speed(logs)) |"
    )
    if log.deviations.isEmpty { isGood = false }
    window.clear()
  }

  // MARK: Many

  private func compare(_ round: Int, screenshot: String?) async {
    let stills = await play(round, animates: false)
    let moving = await play(round, animates: true) {
      if let screenshot { _ = self.window.writeScreenshot(to: screenshot) }
    }
    let beyond = moving.figures.peakMemory - stills.figures.peakMemory
    print(
      "| \(round) | \(moving.others) % | \(Self.megabytes(stills.figures.peakMemory)) "
        + "| \(Self.megabytes(moving.figures.peakMemory)) | \(Self.megabytes(beyond)) "
        + "| \(Self.milliseconds(moving.figures.longestHold)) "
        + "| \(Self.milliseconds(moving.figures.longestHoldByTheClock)) "
        + "| \(moving.logs.reduce(0) { $0 + $1.deviations.count }) | \(moving.logs.reduce(0) { $0 + $1.dropped }) "
        + "| \(Self.deviations(moving.logs)) | \(Self.speed(moving.logs)) "
        + "| \(Self.milliseconds(moving.figures.meanFrame)) |"
    )
    if beyond > Self.limits.memory || moving.figures.longestHold > Self.limits.hold { isGood = false }
  }

  private func play(
    _ round: Int,
    animates: Bool,
    _ atTheEnd: () -> Void = {},
  ) async -> (figures: FrameMeter.Figures, logs: [FrameLog], others: Int) {
    let requests = (0..<Self.count).map { files.all[$0 % files.all.count].request("\(round) \($0) \(animates)") }
    frames.begin()
    let pictures = show(requests, width: 120, height: 90, animates: animates)
    await allShown(pictures)
    playEndlessly(pictures)
    let logs = pictures.map(FrameLog.init)
    let before = ProcessorUse.now
    await observe(logs)
    let others = ProcessorUse.now.shareOfOthers(since: before)
    frames.end()
    atTheEnd()
    window.clear()
    // What the widgets held goes with the next turns of the main loop.
    try? await Task.sleep(for: .milliseconds(200))
    return (frames.figures, logs, others)
  }

  // MARK: The window

  private func show(_ requests: [ImageRequest], width: Int, height: Int, animates: Bool) -> [RemotePicture] {
    let pipeline = BenchGTK.makePipeline(disk: nil)
    let box = Widget(of: gtk_flow_box_get_type()).aligned(GTK_ALIGN_CENTER, GTK_ALIGN_START)
    box.set("max-children-per-line", 10)
    box.set("min-children-per-line", requests.count == 1 ? 1 : 10)
    window.scrolled.add(box)
    window.widget.present()
    return requests.map { request in
      let picture = RemotePicture(pipeline, width: width, height: height)
      picture.append(to: box)
      picture.animates = animates
      picture.load(request)
      return picture
    }
  }

  /// Waits until every picture shows its image, for at most twenty seconds.
  private func allShown(_ pictures: [RemotePicture]) async {
    for _ in 0..<400 {
      if pictures.allSatisfy({ if case .image = $0.content { true } else { false } }) { return }
      try? await Task.sleep(for: .milliseconds(50))
    }
    isGood = false
    print("not all images have arrived")
  }

  /// Starts again what plays only once.
  private func playEndlessly(_ pictures: [RemotePicture]) {
    for picture in pictures {
      picture.player?.loopCount = 0
      picture.plays = false
      picture.plays = true
    }
  }

  /// Watches the frames that are painted.
  private func observe(_ logs: [FrameLog]) async {
    if !frames.isMeasuring { frames.begin() }
    frames.onFrame = {
      let time = Int(g_get_monotonic_time())
      for log in logs { log.painted(at: time) }
    }
    try? await Task.sleep(for: .seconds(Self.watch))
    frames.onFrame = {}
  }

  // MARK: Figures

  private static func deviations(_ logs: [FrameLog]) -> String {
    let all = logs.flatMap(\.deviations).map(abs)
    guard !all.isEmpty else { return "- | -" }
    return "\(milliseconds(all.reduce(0, +) / all.count)) | \(milliseconds(all.max() ?? 0))"
  }

  private static func speed(_ logs: [FrameLog]) -> String {
    let (elapsed, expected) = logs.reduce((0, 0)) { ($0.0 + $1.elapsed, $0.1 + $1.expected) }
    guard elapsed > 0 else { return "-" }
    let share = expected * 10_000 / elapsed
    return "\(share / 100).\(share / 10 % 10)\(share % 10) %"
  }

  private static func milliseconds(_ microseconds: Int) -> String {
    "\(microseconds / 1000).\(microseconds / 100 % 10) ms"
  }

  private static func megabytes(_ bytes: Int) -> String { "\(bytes / 1_000_000) MB" }
}

/// The use of the processors since the machine was started.
private struct ProcessorUse {
  /// The time of all processors, the part of it that was used, and the part that this process used; all in ticks.
  private var all = 0
  private var used = 0
  private var own = 0

  static var now: ProcessorUse {
    var use = ProcessorUse()
    let machine = fields("/proc/stat").dropFirst().prefix(8).compactMap { Int($0) }
    use.all = machine.reduce(0, +)
    // Without what was idle, or waited for disks.
    use.used = use.all - machine.dropFirst(3).prefix(2).reduce(0, +)
    // The name of the program has no spaces, as it is ours; user and system time are fields 14 and 15 (proc(5)).
    use.own = fields("/proc/self/stat").dropFirst(13).prefix(2).compactMap { Int($0) }.reduce(0, +)
    return use
  }

  /// Returns the percentage of all time that others used.
  func shareOfOthers(since start: ProcessorUse) -> Int {
    100 * (used - start.used - (own - start.own)) / max(1, all - start.all)
  }

  private static func fields(_ path: String) -> [Substring] {
    let text = (try? FileContents.at(path)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    return (text.split(separator: "\n").first ?? "").split(separator: " ")
  }
}
