/// A linked list of places, each at most once.
///
/// - Complexity: O(1) for every operation, amortised when the list grows.
struct PlaceList {
  private struct Links {
    var next = -1
    var previous = -1
    var isLinked = false
  }

  private var links: [Links] = []
  private(set) var first = -1
  private(set) var last = -1
  private(set) var count = 0

  func contains(_ place: Int) -> Bool { place < links.count && links[place].isLinked }

  func next(_ place: Int) -> Int { links[place].next }

  mutating func append(_ place: Int) {
    while links.count <= place { links.append(Links()) }
    links[place] = Links(next: -1, previous: last, isLinked: true)
    if last >= 0 { links[last].next = place } else { first = place }
    last = place
    count += 1
  }

  mutating func remove(_ place: Int) {
    let (next, previous) = (links[place].next, links[place].previous)
    if next >= 0 { links[next].previous = previous } else { last = previous }
    if previous >= 0 { links[previous].next = next } else { first = next }
    links[place] = Links()
    count -= 1
  }
}
