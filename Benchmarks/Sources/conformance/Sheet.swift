import VitrineImaging

/// All images on one sheet, each in a square, over grey.
enum Sheet {
  static let tile = 64
  private static let columns = 30

  static func of(_ pictures: [Bitmap]) -> Bitmap {
    let rows = max(1, (pictures.count + columns - 1) / columns)
    let width = columns * tile
    return Bitmap(width: width, height: rows * tile, alpha: .opaque) { target in
      for at in target.indices { target[at] = at % 4 == 3 ? 255 : 96 }
      for (index, picture) in pictures.enumerated() {
        let left = index % columns * tile + (tile - picture.width) / 2
        let top = index / columns * tile + (tile - picture.height) / 2
        for y in 0..<min(picture.height, tile) {
          for x in 0..<min(picture.width, tile) {
            let (color, at) = (picture[x, y], ((top + y) * width + left + x) * 4)
            let coverage = Int(color.w)
            for channel in 0..<3 {
              target[at + channel] = UInt8((Int(color[channel]) * coverage + 96 * (255 - coverage)) / 255)
            }
          }
        }
      }
    }
  }
}
