import VitrineRuntime

extension XMP {
  /// Returns a packet that describes an upright image of another size, alone in its file.
  ///
  /// Thumbnails, and references to other images and to a second packet, are removed, and the blanks that make room for
  /// changes in place. All other properties stay as they are.
  ///
  /// Returns `nil` if the packet is not well-formed XML in UTF-8. Complexity: O(bytes).
  static func updated(_ packet: Data, width: Int, height: Int) -> Data? {
    guard var scanner = XMPScanner(packet) else { return nil }
    var update = XMPUpdate(width: width, height: height)
    while let token = scanner.next() { update.read(token, depth: scanner.depth) }
    guard scanner.xml.isWellFormed, !update.removesAll else { return nil }
    let result = Data(update.applied(to: scanner.xml.bytes))
    let orientation = result.reading(XMP.orientation)
    // A reader that only searches for the name may find it in a comment.
    return [nil, .up].contains(orientation) ? result : nil
  }
}

/// The changes of a packet, collected in order.
private struct XMPUpdate {
  let width: Int
  let height: Int
  /// True if nothing would be left.
  private(set) var removesAll = false
  private var edits: [(range: Range<Int>, text: String)] = []
  /// An element whose end is awaited: the place where the change begins, and the new text, which replaces either the
  /// content or all of the element.
  private var open: (depth: Int, start: Int, content: String?)?

  init(width: Int, height: Int) { (self.width, self.height) = (width, height) }

  mutating func read(_ token: XMPScanner.Token, depth: Int) {
    switch token {
    case .open(let tag):
      guard open == nil else { return }
      read(tag, depth: tag.xml.isEmpty ? depth : depth - 1)
    case .close(let range):
      guard let change = open, change.depth == depth else { return }
      let end = change.content == nil ? range.upperBound : range.lowerBound
      edits.append((change.start..<end, change.content ?? ""))
      open = nil
    case .text(let range) where depth == 0 && range.count > 1: edits.append((range, "\n"))
    case .text, .literal: break
    }
  }

  private mutating func read(_ tag: XMPScanner.Tag, depth: Int) {
    let range = tag.xml.range
    if Self.isRemoved(tag.name) {
      removesAll = removesAll || depth == 0
      if tag.xml.isEmpty {
        edits.append((range, ""))
      } else {
        open = (depth, range.lowerBound, nil)
      }
    } else if let value = value(tag.name, isProperty: tag.role == .property) {
      // The value may be in an attribute, too.
      for (name, attribute) in tag.attributes where !name.hasPrefix("xmlns") { edits.append((attribute.range, "")) }
      if tag.xml.isEmpty {
        edits.append((range.upperBound - 2..<range.upperBound, ">\(value)</\(tag.xml.name)>"))
      } else {
        open = (depth, range.upperBound, value)
      }
    } else {
      for (name, attribute) in tag.attributes {
        if Self.isRemoved(name) {
          edits.append((attribute.range, ""))
        } else if let value = value(name, isProperty: tag.role == .description) {
          edits.append((attribute.value, value))
        }
      }
    }
  }

  /// Returns the new value of a property; `nil` if it stays.
  private func value(_ name: String, isProperty: Bool) -> String? {
    switch name {
    // Wherever it is: simple readers take the first.
    case "tiff:Orientation": "\(Orientation.up.rawValue)"
    // Descriptions of other pictures, such as ingredients, keep their sizes.
    case "tiff:ImageWidth" where isProperty, "exif:PixelXDimension" where isProperty: "\(width)"
    case "tiff:ImageLength" where isProperty, "exif:PixelYDimension" where isProperty: "\(height)"
    default: nil
    }
  }

  private static let removedNames: Set<String> = ["xmp:Thumbnails", "xmpGImg:image", "xmpNote:HasExtendedXMP"]
  /// Gain maps, motion photos, depth maps and sounds behind the picture.
  private static let removedPrefixes: Set<Substring> = [
    "hdrgm", "HDRGainMap", "Container", "GContainer", "GImage", "GDepth", "GAudio", "Device",
  ]
  private static let removedBeginnings = ["GCamera:MicroVideo", "GCamera:MotionPhoto"]

  private static func isRemoved(_ name: String) -> Bool {
    guard let colon = name.firstIndex(of: ":") else { return false }
    return removedPrefixes.contains(name[..<colon]) || removedNames.contains(name)
      || removedBeginnings.contains { name.hasPrefix($0) }
  }

  func applied(to bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var offset = 0
    for edit in edits {
      result += bytes[offset..<edit.range.lowerBound]
      result += Array(edit.text.utf8)
      offset = edit.range.upperBound
    }
    return result + bytes[offset...]
  }
}
