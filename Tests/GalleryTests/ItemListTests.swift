import Testing
import VitrineGalleryModel
import VitrineTestSupport

@Suite
struct ItemListTests {
  private func items(_ names: String...) -> [GalleryItem] {
    names.map { GalleryItem(.file("/there/\($0)"), byteCount: 1, modified: 1) }
  }

  private func names(_ list: ItemList) -> [String] { list.visible.map(\.name) }

  /// Takes the steps as a view does.
  private func follow(_ shown: inout [String], _ steps: [ListSplice]) {
    for step in steps { shown.replaceSubrange(step.position..<step.position + step.removed, with: step.added) }
  }

  @Test
  func namesAreSortedAsPeopleExpect() {
    var list = ItemList()
    _ = list.replace(with: items("b.jpg", "IMG_10.jpg", "img_2.jpg", "A.jpg"))
    #expect(names(list) == ["A.jpg", "b.jpg", "img_2.jpg", "IMG_10.jpg"])
  }

  @Test
  func aSearchFindsAllWordsInAnyCase() {
    var list = ItemList()
    _ = list.replace(with: items("Red fox.jpg", "fox.jpg", "Café.jpg"))
    _ = list.setSearch("FOX red")
    #expect(names(list) == ["Red fox.jpg"])
    _ = list.setSearch("cafe\u{301}")
    #expect(names(list) == ["Café.jpg"])
  }

  @Test
  func pictureThatStayAreNotTouchedWhenOthersComeAndGo() {
    var list = ItemList()
    var shown: [String] = []
    follow(&shown, list.replace(with: items("a.jpg", "c.jpg", "e.jpg")))
    let steps = list.update(removing: ["/there/c.jpg"], adding: items("b.jpg", "f.jpg"))
    #expect(steps.map(\.removed).reduce(0, +) == 1)
    follow(&shown, steps)
    #expect(shown == list.visible.map(\.id.text))
  }

  @Test
  func theStepsLeadToTheListWhateverChanges() {
    var random = SplitMix64(seed: 7)
    var list = ItemList()
    var shown: [String] = []
    for round in 0..<300 {
      let some = (0..<5).map { _ in
        let number = Int.random(in: 0..<40, using: &random)
        return GalleryItem(
          .file("/there/\(number).\(["jpg", "gif", "png"][number % 3])"),
          byteCount: Int.random(in: 0..<9, using: &random),
          modified: 1,
        )
      }
      switch round % 6 {
      case 0: follow(&shown, list.setOrder(ItemOrder.allCases[round / 6 % 4], isReversed: round % 4 == 0))
      case 5: follow(&shown, list.setKind(ItemKind.allCases[round / 6 % 4]))
      case 1: follow(&shown, list.setSearch(round % 2 == 0 ? "" : "\(round % 4)"))
      case 2: follow(&shown, list.replace(with: some + list.visible))
      default: follow(&shown, list.update(removing: some.prefix(2).map(\.id), adding: Array(some.suffix(3))))
      }
      #expect(shown == list.visible.map(\.id.text))
    }
  }

  @Test
  func manySmallStepsAreOneLargeOne() {
    var list = ItemList()
    var shown: [String] = []
    let all = (0..<2000).map { GalleryItem(.file("/there/\($0).jpg"), byteCount: 1, modified: 1) }
    follow(&shown, list.replace(with: all))
    for search in ["7", "77", "1", ""] {
      let steps = list.setSearch(search)
      #expect(steps.count <= 100)
      follow(&shown, steps)
      #expect(shown == list.visible.map(\.id.text))
    }
  }

  @Test
  func aListThatWasSortedElsewhereReplacesOneWithItsOwnOrderAndSearch() {
    let other = ItemList(items("b.jpg", "c.jpg", "a.png"), order: .newest)
    for (order, search) in [(ItemOrder.newest, ""), (.name, ""), (.name, "jpg")] {
      for start in [[], items("a.png", "z.jpg")] {
        var list = ItemList()
        var shown: [String] = []
        follow(&shown, list.setOrder(order, isReversed: false))
        follow(&shown, list.setSearch(search))
        follow(&shown, list.replace(with: start))
        follow(&shown, list.replace(with: other))
        #expect(shown == list.visible.map(\.id.text))
        #expect(names(list) == (search.isEmpty ? ["a.png", "b.jpg", "c.jpg"] : ["b.jpg", "c.jpg"]))
        #expect(list.order == order && list.position(of: "/there/c.jpg") == names(list).count - 1)
      }
    }
  }

  @Test
  func whatGoesOnIsTheNextOneThatStaysOrElseTheOneBefore() {
    var list = ItemList()
    _ = list.replace(with: items("a", "b", "c"))
    #expect(list.neighbour(of: "/there/b", without: ["/there/b"]) == "/there/c")
    #expect(list.neighbour(of: "/there/c", without: ["/there/c", "/there/b"]) == "/there/a")
    #expect(list.neighbour(of: "/there/a", without: ["/there/a", "/there/b", "/there/c"]) == nil)
    var selected = SelectedItems(["/there/b"])
    selected.leave(["/there/b"], from: list)
    #expect(selected.ids == ["/there/c"])
  }

  @Test
  func anOrderCanBeReversed() {
    var list = ItemList()
    _ = list.replace(with: items("b.jpg", "c.jpg", "a.jpg"))
    _ = list.setOrder(.name, isReversed: true)
    #expect(names(list) == ["c.jpg", "b.jpg", "a.jpg"])
    // What comes later takes its place.
    _ = list.update(removing: [], adding: items("bb.jpg"))
    #expect(names(list) == ["c.jpg", "bb.jpg", "b.jpg", "a.jpg"])
  }

  @Test
  func photographsAreSortedByTheTimeTheyWereTaken() {
    var list = ItemList()
    var all = items("a.jpg", "b.jpg", "c.jpg")
    (all[0].taken, all[2].taken) = (30, 20)
    _ = list.replace(with: all)
    _ = list.setOrder(.taken, isReversed: false)
    #expect(names(list) == ["a.jpg", "c.jpg", "b.jpg"])
    // A file that is listed again keeps what was read of it; another version does not.
    #expect(list.update(removing: [], adding: items("a.jpg")).isEmpty)
    _ = list.update(removing: [], adding: [GalleryItem(.file("/there/a.jpg"), byteCount: 2, modified: 1)])
    #expect(names(list) == ["c.jpg", "a.jpg", "b.jpg"])
  }

  @Test
  func oneKindIsShown() {
    var list = ItemList()
    _ = list.replace(with: items("a.JPG", "b.png", "c.gif", "d.heic", "e", "f.svg"))
    _ = list.setKind(.photographs)
    #expect(names(list) == ["a.JPG", "d.heic"])
    _ = list.setKind(.animations)
    #expect(names(list) == ["c.gif"])
    _ = list.setKind(.graphics)
    #expect(names(list) == ["b.png", "e", "f.svg"])
    _ = list.setKind(.all)
    #expect(list.visible.count == 6)
  }
}
