/// Decodes the only scan of a baseline file, one row of units at a time, into a band of cells for each component.
final class BaselineScan {
  var bands: [SamplePlane] { plan.bands }
  var deviations: SamplePlane? { plan.deviations }

  private let plan: UnitPlan
  private let lane: UnitLane
  private let unitsAcross: Int
  private let unitColumns: Int

  /// Returns `nil` if the script has no such scan; `bytes` must outlive the object.
  init?(_ bytes: Elements<UInt8>, _ script: JPEGScript, measuresDeviations: Bool) {
    guard let scan = script.scans.first, !script.frame.isProgressive,
      let plan = UnitPlan(scan, script.frame, measuresDeviations: measuresDeviations)
    else { return nil }
    self.plan = plan
    (unitsAcross, unitColumns) = (script.frame.unitsAcross, script.frame.unitColumns)
    lane = UnitLane(bytes, scan.data, restartInterval: scan.restartInterval)
  }

  /// Decodes the next row of units.
  ///
  /// Returns `false` if the data are damaged or end.
  func decodeBand() -> Bool {
    var unit = 0
    var cells = CellOutput(column: 0, unitColumns: unitColumns)
    while unit < unitsAcross {
      guard lane.passRestart() else { return false }
      let count = min(unitsAcross - unit, lane.unitsBeforeRestart)
      guard plan.decode(count, lane, &cells) == count else { return false }
      lane.count(count)
      unit += count
    }
    return true
  }
}
