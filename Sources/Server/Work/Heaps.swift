import CVitrineMHD
import VitrineRuntime

/// The heaps of the C library.
package enum Heaps {
  /// Limits their number for the whole process; called before it has a second thread.
  ///
  /// Otherwise each thread that decodes has one of its own, which keeps as much as its largest image took: with 12-megapixel
  /// progressive JPEG at 16 connections on two cores, 139 MB were 184. Small blocks do not get there, so that threads seldom
  /// wait for one another.
  package static func limit() {
    vitrine_mhd_limit_heaps(CInt(clamping: max(1, CoreBudget.machine.count / 4)))
  }
}
