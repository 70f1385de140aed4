import CLibGIF

/// giflib's state for one file.
@safe
final class GIFReader {
  // Owned: made in init, closed in deinit, used by one thread at a time.
  private let file: UnsafeMutablePointer<GifFileType>
  private let input: Input
  /// The failure of the frame's last line, which ends its rows.
  private var failure: ImageError?

  /// `bytes` must stay in place for the life of the reader.
  init(_ bytes: ByteReader) throws(ImageError) {
    let input = Input(bytes)
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

  /// Begins to read the pixels of a frame, wherever the last read ended.
  func begin(_ frame: GIFFrames.Frame) throws(ImageError) {
    (input.offset, failure) = (frame.offset, nil)
    var record = UNDEFINED_RECORD_TYPE
    guard unsafe DGifGetRecordType(file, &record) == GIF_OK, record == IMAGE_DESC_RECORD_TYPE,
      unsafe DGifGetImageDesc(file) == GIF_OK
    else { throw error("inside a frame's header") }
    // giflib refuses lines that are longer than what it believes to be left of the frame.
    let size = unsafe (Int(file.pointee.Image.Width), Int(file.pointee.Image.Height))
    guard size == (frame.place.width, frame.place.height) else {
      throw GIFFrames.corrupt("two headers of a frame disagree")
    }
  }

  /// Reads the next line of palette indices; `line` must be as long as the frame is wide.
  func readLine(into line: inout [UInt8], row: Int) throws(ImageError) {
    let count = Int32(line.count)
    // giflib writes `count` bytes, which is the buffer's length, and refuses more than the frame has.
    let status = unsafe line.withUnsafeMutableBufferPointer { unsafe DGifGetLine(file, $0.baseAddress, count) }
    guard status == GIF_OK else { throw error("at row \(row)") }
  }

  /// Reads the next line after `count` others of one call; returns `false` if those are to be shown before the failure.
  func readLine(into line: inout [UInt8], row: Int, after count: Int) throws(ImageError) -> Bool {
    if let failure { throw failure }
    do throws(ImageError) {
      try readLine(into: &line, row: row)
      return true
    } catch {
      failure = error
      guard count > 0 else { throw error }
      return false
    }
  }

  private func error(_ place: String) -> ImageError { unsafe Self.error(file.pointee.Error, input, place) }

  private static func error(_ code: Int32, _ input: Input, _ place: String) -> ImageError {
    if input.ranOut { return ImageError(.truncated, format: .gif, "truncated: the file ends \(place)") }
    // A static table of giflib; some codes have no text.
    let reason = unsafe GifErrorString(code).map { unsafe String(cString: $0) } ?? "code \(code)"
    return ImageError(.corrupt, format: .gif, "corrupt \(place): \(reason)")
  }

  /// The bytes, as giflib reads them.
  private final class Input {
    private let bytes: ByteReader
    var offset = 0
    private(set) var ranOut = false

    init(_ bytes: ByteReader) {
      self.bytes = bytes
    }

    static let read: InputFunc = { file, target, count in
      guard let context = unsafe file?.pointee.UserData, count > 0 else { return 0 }
      // giflib gives room for `count` bytes. The `GIFReader` whose file this is keeps its input alive.
      let room = unsafe MutableElements(UnsafeMutableBufferPointer(start: target, count: Int(count)))
      return unsafe Unmanaged<Input>.fromOpaque(context).takeUnretainedValue().read(into: room)
    }

    private func read(into room: MutableElements<UInt8>) -> Int32 {
      let part = bytes.slice(offset, room.count)
      if part.count < room.count { ranOut = true }
      room.update(from: part.bytes)
      offset += part.count
      return Int32(part.count)
    }
  }
}
