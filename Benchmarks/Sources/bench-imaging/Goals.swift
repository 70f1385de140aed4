/// The targets of the comparison, with the results.
struct Goals {
  let comparisons: [Comparison]

  private func find(_ kind: Kind, _ size: Int) -> Comparison? {
    comparisons.first { $0.kind == kind && $0.size == size }
  }

  func report() {
    print("\nTargets for photographs of 8 megapixels and more (CPU: that of the whole process)")
    print("  " + column("", 48) + column("here", 8) + column("target", 18) + column("", 8) + "above start-up")
    if let jpeg = find(.baseline, 300) {
      ratio("baseline to 300, beside libvips", jpeg, balanced, [vips], 0.35)
      least("its quality, dB", jpeg.quality(balanced), 43)
      most("baseline to 300, ms of CPU", jpeg.cpu(balanced), 20)
      ratio("baseline to 300 as PNG, beside gdk-pixbuf", jpeg, png, [pixbuf], 0.6)
      if let theirs = jpeg.quality(pixbuf) { least("its quality, dB, beside gdk-pixbuf's", jpeg.quality(png), theirs) }
      ratio("best to 300, beside libvips", jpeg, best, [vips], 1)
      least("its quality, dB", jpeg.quality(best), 50)
      most("MB above start-up and file", jpeg.above(balanced), 5)
      if let ours = jpeg.peak(balanced), let theirs = jpeg.peak(vips) {
        most("whole peak beside libvips'", ours / theirs, 0.5)
      }
    }
    if let large = find(.large, 300) {
      ratio("3.5 to 4 MB to 300 as PNG, beside gdk-pixbuf", large, png, [pixbuf], 0.55)
      ratio("3.5 to 4 MB to 300 as PNG, beside libvips", large, png, [vipsPNG], 0.25)
    }
    if let progressive = find(.progressive, 300) {
      ratio("progressive to 300, beside the best", progressive, balanced, [vips, pillow, openCV, magick], 1 / 6.0)
      ratio("progressive to 300 as PNG, beside gdk-pixbuf", progressive, png, [pixbuf], 1 / 6.0)
    }
    if let picture = find(.png, 300) {
      ratio("PNG to 300, beside libvips", picture, balanced, [vips], 1)
      most("MB above start-up and file", picture.above(balanced), picture.fullBitmap / 20)
    }
    for kind in Kind.compared {
      if let comparison = find(kind, 900) {
        ratio("\(kind.rawValue) to 900, beside libvips", comparison, balanced, [vips], 1)
      }
    }
  }

  private func ratio(
    _ name: String,
    _ comparison: Comparison,
    _ ours: Contestant,
    _ theirs: [Contestant],
    _ goal: Double,
  ) {
    guard let own = comparison.cpu(ours), let other = theirs.compactMap({ comparison.cpu($0) }).min() else { return }
    var above: Double?
    if let own = comparison.work(ours), let other = theirs.compactMap({ comparison.work($0) }).min() {
      above = own / other
    }
    line(name, own / other, "at most", goal, own / other <= goal, above: above)
  }

  private func most(_ name: String, _ value: Double?, _ goal: Double) {
    guard let value else { return }
    line(name, value, "at most", goal, value <= goal)
  }

  private func least(_ name: String, _ value: Double?, _ goal: Double) {
    guard let value else { return }
    line(name, value, "at least", goal, value >= goal)
  }

  private func line(
    _ name: String,
    _ value: Double,
    _ word: String,
    _ goal: Double,
    _ isMet: Bool,
    above: Double? = nil,
  ) {
    let isMetAbove = above.map { $0 <= goal ? "met" : "MISSED" } ?? ""
    print(
      "  " + column(name, 48) + column(number(value, 2), 8) + column("\(word) \(number(goal, 2))", 18)
        + column(isMet ? "met" : "MISSED", 8) + (above.map { "\(number($0, 2)) \(isMetAbove)" } ?? "")
    )
  }
}
