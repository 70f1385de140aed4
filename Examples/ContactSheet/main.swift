// Lays pictures out in a grid: `contact-sheet OUT.png PICTURE...`
//
// It shows VitrineImaging without anything else: bytes in, each picture at the size of its cell, pixels written into one
// bitmap, PNG out.

import Foundation
import VitrineImaging

struct ContactSheet {
  let columns: Int
  let rows: Int
  let cell: Int
  let gap = 8
  var pixels: [UInt8]

  var width: Int { columns * (cell + gap) + gap }
  var height: Int { rows * (cell + gap) + gap }

  init(count: Int) {
    columns = max(1, Int(Double(count).squareRoot().rounded(.up)))
    rows = (count + columns - 1) / columns
    cell = max(48, min(240, 1900 / columns))
    let side = (columns * (cell + gap) + gap, rows * (cell + gap) + gap)
    // A dark wall, opaque.
    pixels = [UInt8](repeating: 0x28, count: side.0 * side.1 * 4)
    for alpha in stride(from: 3, to: pixels.count, by: 4) { pixels[alpha] = 255 }
  }

  /// Lays a picture into the middle of a cell, over a light grey where it is transparent.
  mutating func place(_ bitmap: Bitmap, at index: Int) {
    let left = gap + index % columns * (cell + gap) + (cell - bitmap.width) / 2
    let top = gap + index / columns * (cell + gap) + (cell - bitmap.height) / 2
    for y in 0..<bitmap.height {
      for x in 0..<bitmap.width {
        let color = bitmap[x, y]
        let alpha = Int(color.w)
        let offset = ((top + y) * width + left + x) * 4
        for component in 0..<3 {
          pixels[offset + component] = UInt8((Int(color[component]) * alpha + 0xC0 * (255 - alpha) + 127) / 255)
        }
      }
    }
  }

  /// Crosses a cell out.
  mutating func crossOut(_ index: Int) {
    let left = gap + index % columns * (cell + gap)
    let top = gap + index / columns * (cell + gap)
    for step in 0..<cell {
      for x in [step, cell - 1 - step] {
        let offset = ((top + step) * width + left + x) * 4
        pixels[offset] = 0xC0
      }
    }
  }

  func bitmap() throws -> Bitmap {
    unsafe Bitmap(width: width, height: height, alpha: .opaque) { target in
      // Both are `width * height` pixels.
      unsafe target.copyBytes(from: pixels)
    }
  }
}

let arguments = Array(CommandLine.arguments.dropFirst())
guard let output = arguments.first, arguments.count > 1 else {
  print("usage: contact-sheet OUT.png PICTURE...")
  exit(64)
}
let pictures = arguments.dropFirst()
var sheet = ContactSheet(count: pictures.count)
for (index, path) in pictures.enumerated() {
  do {
    let data = try Data(contentsOf: URL(filePath: path))
    let size = TargetSize.pixels(Double(sheet.cell), Double(sheet.cell), .fit)
    sheet.place(try Bitmap(decoding: data, size: size), at: index)
  } catch {
    print("contact-sheet: \(path): \(error)")
    sheet.crossOut(index)
  }
}
try sheet.bitmap().encoded(as: .png).write(to: URL(filePath: output))
print("\(output): \(pictures.count) pictures, \(sheet.width)x\(sheet.height) pixels")
