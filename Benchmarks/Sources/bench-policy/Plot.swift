import Foundation

/// Draws the hit ratio of each trace by the size of the cache, readable on light and dark pages.
func plot(_ traces: [Trace], _ results: [[[Ratios]]], _ shares: [Double]) -> String {
  let colors = ["#8a8f98", "#d2603f"]
  // Our LRU coincides with the textbook's.
  let shown = [(0, "LRU"), (2, "score")]
  let (width, height, columns) = (230.0, 190.0, 3)
  let rows = (traces.count + columns) / columns
  var lines = [
    #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \#(Int(width) * columns) \#(Int(height) * rows)" "#
      + #"font-family="sans-serif" font-size="11" fill="gray">"#
  ]
  func place(_ index: Int) -> (Double, Double) {
    (Double(index % columns) * width, Double(index / columns) * height)
  }
  func text(_ x: Double, _ y: Double, _ text: String, _ anchor: String, _ fill: String? = nil) {
    let fill = fill.map { #" fill="\#($0)""# } ?? ""
    lines.append(#"<text x="\#(round(x))" y="\#(round(y))" text-anchor="\#(anchor)"\#(fill)>\#(text)</text>"#)
  }
  for (index, trace) in traces.enumerated() {
    let (left, top) = (place(index).0 + 36, place(index).1 + 28)
    let (inner, tall) = (width - 52, height - 62)
    let most = results[index].joined().map(\.hits).max() ?? 100
    let scale = max(10, (most / 10).rounded(.up) * 10)
    text(left + inner / 2, top - 10, trace.name, "middle")
    for step in [0.0, 0.5, 1.0] {
      let y = top + tall * (1 - step)
      let from = #"<line x1="\#(left)" x2="\#(left + inner)" y1="\#(y)" y2="\#(y)""#
      lines.append(from + #" stroke="gray" stroke-opacity="0.35"/>"#)
      text(left - 5, y + 4, "\(Int(scale * step)) %", "end")
    }
    func x(_ share: Double) -> Double {
      left + inner * (log(share) - log(shares[0])) / (log(shares[shares.count - 1]) - log(shares[0]))
    }
    for share in shares { text(x(share), top + tall + 15, "\(Int((share * 100).rounded()))", "middle") }
    for (color, (contender, _)) in zip(colors, shown) {
      let points = zip(shares, results[index][contender]).map { share, ratios in
        String(format: "%.1f,%.1f", x(share), top + tall * (1 - ratios.hits / scale))
      }
      let stroke = contender == 2 ? 2.5 : 1.5
      lines.append(
        #"<polyline points="\#(points.joined(separator: " "))" fill="none" stroke="\#(color)" stroke-width="\#(stroke)"/>"#
      )
    }
  }
  let (left, top) = place(traces.count)
  text(left + 36, top + 28, "Hit ratio, by the percentage", "start")
  text(left + 36, top + 42, "of the data that fits", "start")
  for (index, (color, (_, name))) in zip(colors, shown).enumerated() {
    text(left + 36, top + 66 + 16 * Double(index), "— " + name, "start", color)
  }
  return (lines + ["</svg>", ""]).joined(separator: "\n")
}
