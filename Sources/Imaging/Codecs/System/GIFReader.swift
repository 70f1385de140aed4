import CLibGIF

/// One frame of a GIF, without its pixels.
struct GIFFrame {
  enum Disposal { case keep, clear, restore }

  static let opaqueBlack = UInt32(bigEndian: 0x0000_00FF)

  let left: Int
  let top: Int
  let width: Int
  let height: Int
  let isInterlaced: Bool
  let disposal: Disposal
  /// 256 colours as RGBA in memory order; 0 for the transparent one and for undefined ones.
  let palette: [UInt32]

  /// The rows in the order in which they are stored (GIF89a, appendix E).
  var rowOrder: [Int] {
    guard isInterlaced else { return Array(0..<height) }
    return [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { start, step in Array(stride(from: start, to: height, by: step)) }
  }
}

/// giflib's state for one file.
@safe
final class GIFReader {
  // Owned: made in init, closed in deinit, used by one thread at a time.
  private let file: UnsafeMutablePointer<GifFileType>
  private let input: Input

  /// `bytes` must stay in place for the life of the reader.
  init(_ bytes: UnsafeRawBufferPointer) throws(ImageError) {
    let input = unsafe Input(bytes)
    self.input = input
    var code: Int32 = 0
    // giflib keeps the pointer to `input` no longer than this object, which keeps it alive.
    guard let file = unsafe DGifOpen(Unmanaged.passUnretained(input).toOpaque(), Input.read, &code) else {
      throw Self.error(code, input, "inside its header")
    }
    unsafe self.file = file
  }

  deinit {
    var code: Int32 = 0
    unsafe DGifCloseFile(file, &code)
  }

  /// Reads up to the pixels of the next frame; those of the previous one must have been read.
  func nextFrame() throws(ImageError) -> GIFFrame {
    var transparent: Int?
    var disposal = GIFFrame.Disposal.keep
    while true {
      var record = UNDEFINED_RECORD_TYPE
      guard unsafe DGifGetRecordType(file, &record) == GIF_OK else { throw error("between frames") }
      switch record {
      case IMAGE_DESC_RECORD_TYPE: return try frame(transparent: transparent, disposal: disposal)
      case EXTENSION_RECORD_TYPE:
        try readExtension { block in
          guard block.count >= 4, block[0] != 0 || block.count > 3 else { return }
          transparent = block[0] & 1 != 0 ? Int(block[3]) : nil
          disposal = [2: .clear, 3: .restore][(block[0] >> 2) & 7] ?? .keep
        }
      case TERMINATE_RECORD_TYPE:
        throw ImageError(.corrupt, format: .gif, "corrupt: the file ends before the requested frame")
      default: continue
      }
    }
  }

  /// Reads the next line of palette indices; `line` must be as long as the frame is wide.
  func readLine(into line: inout [UInt8], row: Int) throws(ImageError) {
    let count = Int32(line.count)
    // giflib writes `count` bytes, which is the buffer's length, and refuses more than the frame has.
    let status = unsafe line.withUnsafeMutableBufferPointer { unsafe DGifGetLine(file, $0.baseAddress, count) }
    guard status == GIF_OK else { throw error("at row \(row)") }
  }

  /// Calls `control` with the block of a graphic control extension; skips all others.
  private func readExtension(_ control: ([UInt8]) -> Void) throws(ImageError) {
    var code: Int32 = 0
    var block: UnsafeMutablePointer<GifByteType>?
    guard unsafe DGifGetExtension(file, &code, &block) == GIF_OK else { throw error("inside an extension") }
    while let bytes = unsafe block {
      // The first byte is the length of what follows, all of it within giflib's buffer of 256 bytes.
      if code == GRAPHICS_EXT_FUNC_CODE {
        unsafe control(Array(UnsafeBufferPointer(start: bytes + 1, count: Int(bytes[0]))))
      }
      guard unsafe DGifGetExtensionNext(file, &block) == GIF_OK else { throw error("inside an extension") }
    }
  }

  private func frame(transparent: Int?, disposal: GIFFrame.Disposal) throws(ImageError) -> GIFFrame {
    guard unsafe DGifGetImageDesc(file) == GIF_OK else { throw error("inside a frame's header") }
    let image = unsafe file.pointee.Image
    guard unsafe image.Width > 0, unsafe image.Height > 0 else {
      throw unsafe ImageError(.corrupt, format: .gif, "corrupt: a frame has \(image.Width)x\(image.Height) pixels")
    }
    var palette = [UInt32](repeating: 0, count: 256)
    let map = unsafe image.ColorMap ?? file.pointee.SColorMap
    guard let map = unsafe map, let colors = unsafe map.pointee.Colors else {
      throw ImageError(.corrupt, format: .gif, "corrupt: a frame has no palette")
    }
    for index in unsafe 0..<min(256, Int(map.pointee.ColorCount)) where index != transparent {
      // Within the palette that giflib allocated for `ColorCount` colours.
      let color = unsafe colors[index]
      palette[index] = UInt32(
        bigEndian: UInt32(color.Red) << 24 | UInt32(color.Green) << 16 | UInt32(color.Blue) << 8 | 255
      )
    }
    return unsafe GIFFrame(
      left: Int(image.Left),
      top: Int(image.Top),
      width: Int(image.Width),
      height: Int(image.Height),
      isInterlaced: image.Interlace,
      disposal: disposal,
      palette: palette,
    )
  }

  private func error(_ place: String) -> ImageError { unsafe Self.error(file.pointee.Error, input, place) }

  private static func error(_ code: Int32, _ input: Input, _ place: String) -> ImageError {
    if input.ranOut { return ImageError(.truncated, format: .gif, "truncated: the file ends \(place)") }
    // A static table of giflib; some codes have no text.
    let reason = unsafe GifErrorString(code).map { unsafe String(cString: $0) } ?? "code \(code)"
    return ImageError(.corrupt, format: .gif, "corrupt \(place): \(reason)")
  }

  /// The bytes, as giflib reads them.
  @safe
  private final class Input {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0
    private(set) var ranOut = false

    init(_ bytes: UnsafeRawBufferPointer) {
      unsafe self.bytes = bytes
    }

    static let read: InputFunc = { file, target, count in
      guard let context = unsafe file?.pointee.UserData, let target = unsafe target else { return 0 }
      // The `GIFReader` whose file this is keeps its input alive.
      return unsafe Unmanaged<Input>.fromOpaque(context).takeUnretainedValue().read(target, Int(count))
    }

    private func read(_ target: UnsafeMutablePointer<GifByteType>, _ count: Int) -> Int32 {
      let available = unsafe min(count, bytes.count - offset)
      if available < count { ranOut = true }
      guard available > 0 else { return 0 }
      // In bounds of `bytes` by the line above; giflib gives room for `count` bytes.
      unsafe UnsafeMutableRawBufferPointer(start: target, count: available).copyMemory(
        from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + available])
      )
      offset += available
      return Int32(available)
    }
  }
}
