import VitrineRuntime

/// The results, as a table with a column for each style.
struct Report {
  struct Column {
    let title: String
    let counts: CellCounts
    let findings: Audit.Findings
    let frames: FrameMeter.Figures
    let requests: Int
  }

  var columns: [Column] = []

  /// True if VitrineGTK's cells kept all their promises.
  var isGood: Bool {
    columns.filter { $0.title == Options.Style.vitrine.rawValue }.allSatisfy { column in
      let findings = column.findings
      return findings.wrong == 0 && findings.wrongAtRest == 0 && findings.flashes == 0 && findings.empty == 0
        && findings.identical == findings.compared
    }
  }

  var text: String {
    let rows: [(String, (Column) -> String)] = [
      ("", { $0.title }),
      ("cells made", { "\($0.counts.cellsMade)" }),
      ("binds", { "\($0.counts.binds)" }),
      ("loads started", { "\($0.counts.loadsStarted)" }),
      ("loads cancelled", { "\($0.counts.loadsCancelled)" }),
      ("images shown", { "\($0.counts.shown)" }),
      ("  from memory", { "\($0.counts.fromMemory)" }),
      ("  from disk", { "\($0.counts.fromDisk)" }),
      ("  from the network", { "\($0.counts.fromNetwork)" }),
      ("requests to the server", { "\($0.requests)" }),
      ("wrong pictures while scrolling", { "\($0.findings.wrong)" }),
      ("wrong pictures at rest", { "\($0.findings.wrongAtRest)" }),
      ("empty cells at rest", { "\($0.findings.empty)" }),
      ("same pixels as the file, at rest", { "\($0.findings.identical) of \($0.findings.compared)" }),
      ("flashes on a memory hit", { "\($0.findings.flashes)" }),
      (
        "with their image at first, of settled",
        { "\($0.findings.settledAtOnce) of \($0.findings.settled)" },
      ),
      ("longest hold of the main thread", { Self.milliseconds($0.frames.longestHold) }),
      ("  by the clock, other threads' too", { Self.milliseconds($0.frames.longestHoldByTheClock) }),
      ("frames", { "\($0.frames.frames)" }),
      ("mean frame, GTK's drawing included", { Self.milliseconds($0.frames.meanFrame) }),
      ("frames over 16.7 ms", { "\($0.frames.slowFrames)" }),
      ("longest frame", { Self.milliseconds($0.frames.longestFrame) }),
      ("peak memory of the process", { "\($0.frames.peakMemory >> 20) MB" }),
    ]
    return rows.map { name, value in
      let cells = columns.map { column in
        let text = value(column)
        return String(repeating: " ", count: max(1, 12 - text.count)) + text
      }
      return name + String(repeating: " ", count: max(1, 40 - name.count)) + cells.joined()
    }.joined(separator: "\n")
  }

  private static func milliseconds(_ microseconds: Int) -> String {
    "\(microseconds / 1000).\(microseconds / 100 % 10) ms"
  }
}
