/// The use of a second thread for a baseline file.
enum SecondThread {
  case none
  /// A thread that is not waited for: where processors are busy, it may begin too late to be of use.
  case hasty
  /// A thread that is waited for, so that a test gets the same result every time.
  case awaited
}

/// Decodes the only scan of a baseline file, one row of units at a time, into a band of cells for each component.
///
/// A second thread decodes half of the scan ahead; see ``LaterUnits``.
final class BaselineScan {
  /// The units after which the place is compared with that of the second half.
  private static let stride = 64

  var bands: [SamplePlane] { plan.bands }
  /// True if the rows come from the second half.
  var isJoined: Bool { later?.isJoined ?? false }

  private let plan: UnitPlan
  private let first: UnitLane
  private var later: LaterUnits?
  private let unitsAcross: Int
  private let unitColumns: Int

  /// Returns `nil` if the script has no such scan; `bytes` must outlive the object.
  ///
  /// A second thread changes no cell.
  init?(_ bytes: Elements<UInt8>, _ script: JPEGScript, _ secondThread: SecondThread) {
    guard let scan = script.scans.first, !script.frame.isProgressive, let plan = UnitPlan(scan, script.frame) else {
      return nil
    }
    self.plan = plan
    (unitsAcross, unitColumns) = (script.frame.unitsAcross, script.frame.unitColumns)
    let isAwaited = secondThread == .awaited
    later = secondThread == .none ? nil : LaterUnits(bytes, scan, plan, isAwaited: isAwaited)
    first = UnitLane(bytes, scan.data, restartInterval: scan.restartInterval, mark: later?.start)
  }

  deinit { later?.end() }

  /// Decodes the next row of units.
  ///
  /// Returns `false` if the data are damaged or end.
  func decodeBand() -> Bool {
    var unit = 0
    var cells = CellOutput(column: 0, unitColumns: unitColumns)
    while unit < unitsAcross {
      if let later, later.isJoined { return later.take(unitsAcross - unit, into: &cells) }
      guard let isBehindRestart = first.passRestart() else { return false }
      var count = min(unitsAcross - unit, first.unitsBeforeRestart)
      if let later {
        guard later.join(first, isBehindRestart: isBehindRestart) else {
          later.end()
          self.later = nil
          continue
        }
        if later.isJoined { continue }
        // Where the halves may meet, they are compared at each unit.
        count = min(count, first.reader.markOffset == nil ? Self.stride : 1)
      }
      guard plan.decode(count, first, &cells) == count else { return false }
      first.count(count)
      unit += count
    }
    return true
  }
}
