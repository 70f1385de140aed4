import Foundation
import Vitrine

/// Draws the work and the waiting of each request of a page, a row each, readable on light and dark pages.
struct PagePicture {
  private enum Work: String, CaseIterable {
    case lookUp = "looks up on disk"
    case connectionQueue = "waits for a connection"
    case connect = "connects"
    case firstByte = "waits for the server"
    case body = "receives"
    case queue = "waits for a decoder"
    case decode = "decodes"
    case resample = "resampled from a larger variant"
    case process = "processes"

    var color: String {
      switch self {
      case .lookUp: "#b58ad6"
      case .connectionQueue: "#9aa0a8"
      case .connect: "#e0b23c"
      case .firstByte: "#6fb1e4"
      case .body: "#2f78c2"
      case .queue: "#e07b39"
      case .decode: "#d2503f"
      case .resample: "#3fa66b"
      case .process: "#8fbf3f"
      }
    }

    /// Waiting is drawn thin, work thick.
    var height: Double { self == .connectionQueue || self == .queue ? 2.2 : 5 }

    init?(_ kind: StageKind, _ phase: String) {
      switch (kind, phase) {
      case (.fetch, "look-up"), (.finished, "look-up"): self = .lookUp
      case (.fetch, "queue"): self = .connectionQueue
      case (.fetch, "request"): self = .firstByte
      case (.fetch, "body"): self = .body
      case (.transfer, "name look-up"), (.transfer, "connect"), (.transfer, "TLS"): self = .connect
      case (.decode, "queue"), (.resample, "queue"), (.process, "queue"), (.finished, "queue"): self = .queue
      case (.decode, "work"): self = .decode
      case (.resample, "work"): self = .resample
      case (.process, "work"), (.finished, "work"): self = .process
      default: return nil
      }
    }
  }

  private let rows: [PageRow]
  private let start: Duration
  private let scale: Double
  private let left = 150.0
  private let top = 74.0
  private let rowHeight = 6.0
  private let width = 1120.0
  private var lines: [String] = []

  init(_ rows: [PageRow]) {
    self.rows = rows
    let start = rows.map(\.metrics.began).min() ?? .zero
    let end = rows.compactMap(\.metrics.ended).max() ?? start
    self.start = start
    scale = (1120 - 150 - 16) / max(1, (end - start) / .milliseconds(1))
  }

  private func x(_ time: Duration) -> Double { left + (time - start) / .milliseconds(1) * scale }
  private func y(_ row: Int) -> Double { top + Double(row) * rowHeight }
  private func number(_ value: Double) -> String { String(format: "%.1f", value) }

  /// The drawing as SVG.
  mutating func svg() -> String {
    let height = y(rows.count) + 34
    lines = [
      ##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \##(Int(width)) \##(Int(height))" "##
        + ##"font-family="sans-serif" font-size="11" fill="#808080">"##,
      #"<defs><pattern id="shared" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">"#
        + ##"<rect width="2.6" height="5" fill="#ffffff" fill-opacity="0.75"/></pattern></defs>"##,
    ]
    legend()
    axis(height)
    bands()
    for (row, request) in rows.enumerated() { draw(request, row) }
    return (lines + ["</svg>", ""]).joined(separator: "\n")
  }

  private mutating func text(_ x: Double, _ y: Double, _ text: String, _ anchor: String = "start", _ more: String = "")
  {
    lines.append(#"<text x="\#(number(x))" y="\#(number(y))" text-anchor="\#(anchor)"\#(more)>\#(text)</text>"#)
  }

  private mutating func legend() {
    var place = 12.0
    var line = 18.0
    for work in Work.allCases where rows.contains(where: { has(work, $0.metrics.root) }) {
      let name = work.rawValue
      if place + Double(name.count) * 6 + 30 > width - 20 { (place, line) = (12, line + 18) }
      box(place, line - 4 - work.height / 2, 16, work.height, work.color)
      text(place + 21, line, name)
      place += 34 + Double(name.count) * 6
    }
    if place + 330 > width { (place, line) = (12, line + 18) }
    box(place, line - 6.5, 16, 5, Work.firstByte.color)
    box(place, line - 6.5, 16, 5, "url(#shared)")
    text(place + 21, line, "shared with another request, which the line leads to")
  }

  private func has(_ work: Work, _ stage: RequestMetrics.Stage) -> Bool {
    stage.phases.contains { Work(stage.kind, $0.name) == work } || stage.stages.contains { has(work, $0) }
  }

  private mutating func axis(_ height: Double) {
    let end = (width - 16 - left) / scale
    let step = [10.0, 20, 50, 100, 200, 500, 1000, 2000].first { end / $0 <= 12 } ?? 5000
    for time in stride(from: 0, through: end, by: step) {
      let x = left + time * scale
      lines.append(
        ##"<line x1="\##(number(x))" x2="\##(number(x))" y1="\##(top - 6)" y2="\##(number(height - 28))" "##
          + ##"stroke="#808080" stroke-opacity="0.25"/>"##
      )
      text(x, top - 11, "\(Int(time)) ms", "middle")
      text(x, height - 14, "\(Int(time)) ms", "middle")
    }
  }

  private mutating func bands() {
    let names: [Priority: (String, String)] = [
      .veryHigh: ("on the screen", "very high priority"), .high: ("the next screen", "high priority"),
      .normal: ("further down", "normal priority"), .low: ("prefetched", "low priority"),
    ]
    var first = 0
    while first < rows.count {
      let priority = rows[first].priority
      let last = rows[first...].firstIndex { $0.priority != priority } ?? rows.count
      let middle = (y(first) + y(last)) / 2
      text(left - 14, middle - 2, names[priority]?.0 ?? "", "end", #" font-weight="bold""#)
      text(left - 14, middle + 12, names[priority]?.1 ?? "", "end")
      box(left - 8, y(first) + 1, 2, y(last) - y(first) - 2, "#808080")
      first = last
    }
  }

  private mutating func box(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ fill: String) {
    lines.append(
      #"<rect x="\#(number(x))" y="\#(number(y))" width="\#(number(width))" height="\#(number(height))" fill="\#(fill)"/>"#
    )
  }

  private mutating func draw(_ row: PageRow, _ index: Int) {
    let metrics = row.metrics
    let note = row.note.isEmpty ? "" : ", \(row.note)"
    let origin = metrics.origin.map { ", from \($0)" } ?? ""
    lines.append("<g><title>\(index + 1)\(note)\(origin): \(milliseconds(metrics.duration)) ms</title>")
    draw(metrics.root, index, isShared: false, from: metrics.began, to: metrics.ended ?? metrics.began)
    let end = x(metrics.ended ?? metrics.began)
    lines.append(
      ##"<circle cx="\##(number(end))" cy="\##(number(y(index) + rowHeight / 2))" r="1.3" fill="#808080"/></g>"##
    )
  }

  private mutating func draw(
    _ stage: RequestMetrics.Stage,
    _ row: Int,
    isShared: Bool,
    from start: Duration,
    to end: Duration,
  ) {
    let isShared = isShared || stage.isShared
    let start = stage.isShared ? max(start, stage.since) : start
    for child in stage.stages { draw(child, row, isShared: isShared, from: start, to: end) }
    for phase in stage.phases {
      guard let work = Work(stage.kind, phase.name), let last = phase.ended else { continue }
      let (began, ended) = (max(phase.began, start), min(last, end))
      guard ended > began else { continue }
      let (left, width) = (x(began), max(0.8, x(ended) - x(began)))
      let top = y(row) + (rowHeight - work.height) / 2
      box(left, top, width, work.height, work.color)
      if isShared, work.height > 3 { box(left, top, width, work.height, "url(#shared)") }
    }
    // Only at the first stage shared with another request.
    guard stage.isShared, let owner = owner(of: stage.id), let ended = stage.ended else { return }
    let x = x(min(ended, end))
    let (from, to) = (y(owner) + rowHeight / 2, y(row) + rowHeight / 2)
    lines.append(
      ##"<path d="M\##(number(x)) \##(number(from))L\##(number(x)) \##(number(to))" stroke="#808080" fill="none"/>"##
    )
  }

  /// The row that started a stage.
  private func owner(of id: Int) -> Int? {
    func owns(_ stage: RequestMetrics.Stage) -> Bool {
      !stage.isShared && (stage.id == id || stage.stages.contains(where: owns))
    }
    return rows.firstIndex { owns($0.metrics.root) }
  }

  private func milliseconds(_ duration: Duration?) -> String {
    duration.map { String(format: "%.1f", $0 / .milliseconds(1)) } ?? "…"
  }
}
