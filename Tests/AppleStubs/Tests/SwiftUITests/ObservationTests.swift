import SwiftUI
import Testing

@Observable
@MainActor
private final class Model {
  var title = "one"
  var unread = 0
}

private final class Old: ObservableObject {
  @Published
  var title = "one"
  var manual = 0 {
    willSet { objectWillChange.send() }
  }
}

private struct ModelView: View {
  let model: Model
  var body: some View { Text(model.title) }
}

private struct FromEnvironment: View {
  @Environment(Model.self)
  private var model: Model
  @Environment(Model.self)
  private var maybe: Model?
  @Environment(\.displayScale)
  private var scale
  var body: some View { Text("\(model.title) \(maybe == nil) \(Int(scale))") }
}

private struct Owner: View {
  @StateObject
  private var old = Old()
  let made: @MainActor (Old) -> Void
  var body: some View {
    Text(old.title)
    Watcher(old: old)
    FromObject().environmentObject(old)
    let _ = made(old)
  }
}

private struct Watcher: View {
  @ObservedObject
  var old: Old
  var body: some View { Button("\(old.title) \(old.manual)") { $old.title.wrappedValue += "!" } }
}

private struct FromObject: View {
  @EnvironmentObject
  var old: Old
  var body: some View { Text("env \(old.title)") }
}

private struct EditModel: View {
  @Bindable
  var model: Model
  var body: some View { Button(model.title) { $model.title.wrappedValue = "edited" } }
}

@Suite
@MainActor
struct ObservationTests {
  @Test
  func aReadPropertyAsksForAWalkAndAnUnreadOneDoesNot() async {
    let model = Model()
    let host = _Host(ModelView(model: model))
    model.unread = 1
    #expect(!host.isPending)
    model.title = "two"
    #expect(host.isPending)
    await host.settle()
    #expect(host.texts == ["two"])
    #expect(host.renders == 2)
    #expect(host.bodies["ModelView"] == 2)
  }

  @Test
  func aViewThatLeftIsNotFollowed() {
    let model = Model()
    let host = _Host(Optional(ModelView(model: model)))
    host.update(nil)
    model.title = "two"
    #expect(!host.isPending)
    #expect(host.texts.isEmpty)
    host.update(ModelView(model: model))
    #expect(host.texts == ["two"])
  }

  @Test
  func observableObjectsOfTheEnvironment() {
    let model = Model()
    let host = _Host(FromEnvironment().environment(model).environment(\.displayScale, 3))
    #expect(host.texts == ["one false 3"])
    model.title = "two"
    host.flush()
    #expect(host.texts == ["two false 3"])
  }

  @Test
  func objectsAreKeptAndWatched() {
    var seen: [Old] = []
    let host = _Host(Owner { seen.append($0) })
    #expect(host.texts == ["one", "one 0", "env one"])
    seen.last?.title = "two"
    host.flush()
    #expect(host.texts == ["two", "two 0", "env two"])
    seen.last?.manual = 7
    host.flush()
    #expect(host.texts == ["two", "two 7", "env two"])
    host.buttons[0].tap()
    host.update(Owner { seen.append($0) })
    #expect(host.texts == ["two!", "two! 7", "env two!"])
    #expect(seen.allSatisfy { $0 === seen.first })
  }

  @Test
  func anObservedObjectCanBeReplaced() {
    let (first, second) = (Old(), Old())
    let host = _Host(Watcher(old: first))
    host.update(Watcher(old: second))
    first.title = "ignored"
    #expect(!host.isPending)
    second.title = "seen"
    host.flush()
    #expect(host.texts == ["seen 0"])
    host.unmount()
    second.title = "late"
    #expect(!host.isPending)
  }

  @Test
  func bindableMakesBindings() {
    let host = _Host(EditModel(model: Model()))
    host.buttons[0].tap()
    host.flush()
    #expect(host.texts == ["edited"])
  }
}
