import SwiftUI
import Testing

@MainActor
private final class Loader: ObservableObject {
  @Published
  private(set) var state = "idle"
  @Published
  var input = ""
  let name: String

  init(name: String) {
    self.name = name
  }

  nonisolated func fetch() async -> String {
    "done"
  }

  func load() async {
    state = "loading"
    state = await fetch()
  }
}

private struct LoaderView: View {
  @StateObject
  private var own = Loader(name: "own")
  @StateObject
  private var given: Loader

  init(name: String) {
    _given = StateObject(wrappedValue: Loader(name: name))
  }

  var body: some View {
    Text("\(own.name) \(own.state)")
    Text("\(given.name) \(given.state)")
      .task { await given.load() }
    Button("input \(own.input)") { $own.input.wrappedValue += "x" }
  }
}

private struct AccentKey: EnvironmentKey {
  static let defaultValue = "none"
}

extension EnvironmentValues {
  fileprivate var accent: String {
    get { self[AccentKey.self] }
    set { self[AccentKey.self] = newValue }
  }
}

private struct Labelled<Content: View>: View {
  @Environment(\.accent)
  private var accent
  let content: () -> Content

  init(@ViewBuilder content: @escaping () -> Content) {
    self.content = content
  }

  var body: some View {
    Text(accent)
    content()
  }
}

// A custom dynamic property made of others.
private struct Clicks: DynamicProperty {
  @State
  private var count = 0
  @Environment(\.accent)
  private var accent
  private(set) var updates = 0

  var text: String { "\(accent) \(count) \(updates)" }

  func click() {
    count += 1
  }

  mutating func update() {
    updates += 1
  }
}

private struct ClicksView: View {
  private var clicks = Clicks()
  var body: some View { Button(clicks.text) { clicks.click() } }
}

@Suite
@MainActor
struct IsolationTests {
  @Test
  func objectsOfTheMainActorAreMadeOnceAndWatched() async {
    let host = _Host(LoaderView(name: "first"))
    #expect(host.texts == ["own idle", "first idle", "input "])
    await host.settle { host.texts[1] == "first done" }
    host.buttons[0].tap()
    host.update(LoaderView(name: "second"))
    #expect(host.texts == ["own idle", "first done", "input x"])
  }

  @Test
  func keysOfOneOwn() {
    let host = _Host(Labelled { Labelled { EmptyView() }.environment(\.accent, "inner") })
    #expect(host.texts == ["none", "inner"])
  }

  @Test
  func dynamicPropertiesMayBeMadeOfOthers() {
    let host = _Host(ClicksView().environment(\.accent, "a"))
    #expect(host.texts == ["a 0 1"])
    host.buttons[0].tap()
    host.flush()
    #expect(host.texts == ["a 1 1"])
  }
}
