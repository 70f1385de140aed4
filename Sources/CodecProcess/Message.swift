package import VitrineImaging
import VitrineRuntime

/// A message over the socket, written and read in the same order.
///
/// Both ends are the same build on the same machine, so there is no byte order and no version to agree on. Missing
/// fields are read as zero: the checks of the numbers catch a process that sends too little.
package struct Message {
  package private(set) var bytes: [UInt8] = []
  private var offset = 0

  package init(bytes: [UInt8] = []) { self.bytes = bytes }

  package mutating func add(_ number: Int) {
    bytes += (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }

  package mutating func add(_ number: Double) { add(Int(bitPattern: UInt(number.bitPattern))) }

  package mutating func add(_ flag: Bool) { add(flag ? 1 : 0) }

  package mutating func add(_ text: String) { add(Array(text.utf8)) }

  package mutating func add(_ content: [UInt8]) {
    add(content.count)
    bytes += content
  }

  package mutating func integer() -> Int {
    guard bytes.count - offset >= 8 else { return 0 }
    defer { offset += 8 }
    return (0..<8).reduce(0) { $0 | Int(bytes[offset + $1]) << ($1 * 8) }
  }

  package mutating func double() -> Double { Double(bitPattern: UInt64(UInt(bitPattern: integer()))) }

  package mutating func flag() -> Bool { integer() != 0 }

  package mutating func text() -> String { String(decoding: content(), as: UTF8.self) }

  package mutating func content() -> [UInt8] {
    let count = min(max(0, integer()), bytes.count - offset)
    defer { offset += count }
    return Array(bytes[offset..<offset + count])
  }
}

extension Message {
  package mutating func add(_ limits: DecodeLimits) {
    for number in [
      limits.pixelCount, limits.streamedPixelCount, limits.side, limits.outputByteCount, limits.frameCount,
      limits.warningCount, limits.metadataByteCount, limits.composedPixelCount, limits.memoryByteCount,
    ] { add(number) }
  }

  package mutating func limits() -> DecodeLimits {
    var limits = DecodeLimits()
    limits.pixelCount = integer()
    limits.streamedPixelCount = integer()
    limits.side = integer()
    limits.outputByteCount = integer()
    limits.frameCount = integer()
    limits.warningCount = integer()
    limits.metadataByteCount = integer()
    limits.composedPixelCount = integer()
    limits.memoryByteCount = integer()
    return limits
  }

  package mutating func add(_ info: ImageInfo) {
    add(info.storedWidth)
    add(info.storedHeight)
    add(info.orientation.rawValue)
    add(info.frameCount)
    add(info.duration)
    add(info.hasAlpha)
    add(info.bitsPerComponent)
    add(info.streamsRows)
    add(info.isVector)
    add(info.workingByteCount ?? -1)
    add(info.colorProfile != nil)
    add(info.colorProfile.map { Array($0.data) } ?? [])
  }

  package mutating func info(of format: ImageFormat) -> ImageInfo {
    var info = ImageInfo(
      format: format,
      storedWidth: integer(),
      storedHeight: integer(),
      orientation: Orientation(rawValue: integer()) ?? .up,
    )
    info.frameCount = integer()
    info.duration = double()
    info.hasAlpha = flag()
    info.bitsPerComponent = integer()
    info.streamsRows = flag()
    info.isVector = flag()
    let workingByteCount = integer()
    info.workingByteCount = workingByteCount < 0 ? nil : workingByteCount
    let hasProfile = flag()
    let profile = content()
    info.colorProfile = hasProfile ? ColorProfile(data: Data(profile)) : nil
    return info
  }

  package mutating func add(_ error: ImageError) {
    add(error.code.description)
    add(error.limit?.description ?? "")
    add(error.detail)
  }

  package mutating func error(_ format: ImageFormat) -> ImageError {
    let codes: [ImageError.Code] = [
      .unrecognised, .unsupported, .truncated, .corrupt, .overLimit, .invalidSize, .noSuchFrame, .outOfTime, .cancelled,
    ]
    let name = text()
    let code = codes.first { $0.description == name } ?? .corrupt
    return ImageError(code, format: format, limit: DecodeLimits.Name(text()), text())
  }
}

/// The operation of a request to a codec process.
package enum Operation: Int {
  /// The header of an image.
  case info
  /// The facts of one frame.
  case frameInfo
  /// Opens a frame for reading rows.
  case open
  /// Reads the next rows of the frame opened last.
  case read
}

/// The first field of an answer.
package enum Answer: Int {
  case done
  case failed
}
