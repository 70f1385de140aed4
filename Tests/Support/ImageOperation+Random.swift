package import VitrineImaging

extension ImageOperations {
  /// Makes operations by the ranges of their rows, each with a given probability.
  package static func random(
    of operations: [ImageOperation] = ImageOperation.table,
    probability: Double = 0.3,
    using numbers: inout SplitMix64,
  ) -> ImageOperations {
    var result = ImageOperations()
    for operation in operations where Double.random(in: 0..<1, using: &numbers) < probability {
      // Some rows refuse a few of their values, such as a negative distance between watermarks.
      for _ in 0..<10 {
        let name = operation.syntax.names.randomElement(using: &numbers) ?? ""
        do throws(ImageOperationError) {
          try result.apply(name, operation.randomTexts(using: &numbers), at: .url)
          break
        } catch {}
      }
    }
    return result
  }
}

extension ImageOperation {
  /// Makes the values of a URL: the first alone, or all.
  package func randomTexts(using numbers: inout SplitMix64) -> [String] {
    let parameters = syntax.parameters(at: .url)
    return parameters.prefix(Bool.random(using: &numbers) ? 1 : parameters.count).flatMap {
      $0.randomTexts(using: &numbers)
    }
  }
}

extension OperationParameter {
  /// Makes the pieces of a value within the range.
  fileprivate func randomTexts(using numbers: inout SplitMix64) -> [String] {
    func number(_ range: ClosedRange<Double>) -> String {
      let scales: [Double] = [1, 10, 1000, 1_000_000]
      let scale = scales.randomElement(using: &numbers) ?? 1
      let (least, most) = ((range.lowerBound * scale).rounded(.up), (range.upperBound * scale).rounded(.down))
      guard least <= most else { return DecimalText.of(range.upperBound) }
      return DecimalText.of((Double.random(in: least...most, using: &numbers)).rounded() / scale)
    }
    let places = Gravity.Place.allCases.map(\.rawValue) + ["n", "se", "c"]
    switch kind {
    case .number(let range): return [number(range)]
    case .whole(let range, let step):
      return ["\(Int.random(in: range.lowerBound / step...range.upperBound / step, using: &numbers) * step)"]
    case .flag: return [["0", "1", "t", "false"].randomElement(using: &numbers) ?? "0"]
    case .choice(let names): return [names.randomElement(using: &numbers) ?? ""]
    case .color:
      let color = PixelColor(UInt32.random(in: 0...0xFFFFFF, using: &numbers))
      return [String((Bool.random(using: &numbers) ? color : color.opacity(0.5)).description.dropFirst())]
    case .placeOrPattern: return [(places + ["re", "ch"]).randomElement(using: &numbers) ?? ""]
    case .gravity(let crops):
      switch Int.random(in: 0..<(crops ? 4 : 3), using: &numbers) {
      case 0: return [places.randomElement(using: &numbers) ?? ""]
      case 1: return [places.randomElement(using: &numbers) ?? "", number(-500...500), number(-1...1)]
      case 2: return ["fp", number(0...1), number(0...1)]
      default: return [["sm", "smart"].randomElement(using: &numbers) ?? ""]
      }
    case .text, .texts: return ["text"]
    }
  }
}
