import VitrineImaging
import VitrineRuntime

/// Counts the surfaces that librsvg holds at once for elements within one another.
///
/// Opacity, blending, clipping, masks and filters draw an element into a surface of its own, as large as the picture,
/// and keep it while the elements within are drawn. An element is within another by nesting, or by a reference to its
/// `id`.
struct SVGLayers {
  /// An element with surfaces, an `id` or references; all others are left out.
  private struct Element {
    var parent: Int
    var surfaces: Int
    /// References, and other elements with the same `id`.
    var references: [UInt64] = []
    var namesake: Int?
  }

  /// How often the depths are computed anew until none changes: a chain of references takes a round for each.
  private static let roundLimit = 64

  private var elements: [Element] = []
  private var named: [UInt64: Int] = [:]
  /// For each open element the nearest one that counts, itself included; -1 for none.
  private var open: [Int] = []
  private var isStyled = false
  /// Keeps elements that have no effects of their own: a style that follows may give them some.
  private let keepsAll: Bool
  private let countsClips: Bool

  init(keepsAll: Bool, countsClips: Bool) { (self.keepsAll, self.countsClips) = (keepsAll, countsClips) }

  /// Adds a start tag: its content, from the name to before the `>`.
  mutating func begin(_ tag: ByteReader, isEmpty: Bool, hasAttributes: Bool) {
    let parent = open.last ?? -1
    guard hasAttributes || keepsAll else {
      if !isEmpty { open.append(parent) }
      return
    }
    var element = Element(parent: parent, surfaces: surfaces(tag))
    let id = Self.id(tag)
    if tag.isNamed("use") || tag.contains("url(") {
      element.references = Self.references(tag)
    }
    guard element.surfaces > 0 || id != nil || !element.references.isEmpty || keepsAll else {
      if !isEmpty { open.append(parent) }
      return
    }
    if let id {
      element.namesake = named[id]
      named[id] = elements.count
    }
    if !isEmpty { open.append(elements.count) }
    elements.append(element)
  }

  /// Adds an end tag.
  mutating func end() { _ = open.popLast() }

  /// Adds a style sheet or an entity; returns `true` if it has effects, which could be those of any element.
  @discardableResult
  mutating func add(style: ByteReader) -> Bool {
    let hasEffects = surfaces(style) > 0
    if hasEffects { isStyled = true }
    return hasEffects
  }

  /// The largest number of surfaces at once; `Int.max` where references make a circle.
  var depth: Int {
    var depths = [Int](repeating: 0, count: elements.count)
    for _ in 0..<Self.roundLimit {
      var isChanged = false
      var within = [Int](repeating: 0, count: elements.count)
      for (index, element) in zip(elements.indices, elements).reversed() {
        var most = within[index]
        for reference in element.references {
          var target = named[reference]
          while let found = target {
            // What refers to itself or to what it is in is not drawn.
            if !isWithin(index, found) { most = max(most, depths[found]) }
            target = elements[found].namesake
          }
        }
        let depth = most + max(element.surfaces, isStyled ? 1 : 0)
        if depth != depths[index] { (depths[index], isChanged) = (depth, true) }
        if element.parent >= 0 { within[element.parent] = max(within[element.parent], depth) }
      }
      if !isChanged { return depths.max() ?? 0 }
    }
    return .max
  }

  private func isWithin(_ index: Int, _ outer: Int) -> Bool {
    var index = index
    // A parent has a lower index than its children.
    while index > outer { index = elements[index].parent }
    return index == outer
  }

  // MARK: Attributes

  /// Returns the number of surfaces that an element's own properties need.
  private func surfaces(_ tag: ByteReader) -> Int {
    var count = 0
    if Self.hasProperty("opacity", of: tag, except: "1") { count += 1 }
    if Self.hasProperty("mix-blend-mode", of: tag, except: "normal")
      || Self.hasProperty("isolation", of: tag, except: "auto")
    {
      count += 1
    }
    if countsClips, Self.hasProperty("clip-path", of: tag, except: "none") { count += 1 }
    if Self.hasProperty("mask", of: tag, except: "none") { count += 2 }
    // Its source, its result and the alpha of one of them.
    if Self.hasProperty("filter", of: tag, except: "none") { count += 4 }
    return count
  }

  /// Returns `true` if a property is set, as an attribute or in a style, to something else than what has no effect.
  private static func hasProperty(_ name: StaticString, of text: ByteReader, except none: StaticString) -> Bool {
    var start = text.firstOffset(of: name, from: 0)
    while let found = start {
      let end = found + name.utf8CodeUnitCount
      let before = text.byte(at: found - 1)
      if before.map({ !$0.isNameByte }) ?? true, let value = text.value(from: end) {
        let end = value + none.utf8CodeUnitCount
        if !text.matches(none, at: value) || text.byte(at: end).map(\.isNameByte) ?? false { return true }
      }
      start = text.firstOffset(of: name, from: end)
    }
    return false
  }

  private static func id(_ tag: ByteReader) -> UInt64? {
    tag.attribute("id").map { hash(tag, from: $0) }
  }

  private static func references(_ tag: ByteReader) -> [UInt64] {
    var references: [UInt64] = []
    var start = tag.firstOffset(of: UInt8(ascii: "#"), from: 0)
    while let found = start {
      references.append(hash(tag, from: found + 1))
      start = tag.firstOffset(of: UInt8(ascii: "#"), from: found + 1)
    }
    return references
  }

  /// Returns a hash of the name at an offset (FNV-1a): names with the same one count as one.
  private static func hash(_ text: ByteReader, from start: Int) -> UInt64 {
    var (hash, offset) = (UInt64(0xCBF2_9CE4_8422_2325), start)
    while let byte = text.byte(at: offset), !"\"') \t\n\r".utf8.contains(byte) {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
      offset += 1
    }
    return hash
  }
}
