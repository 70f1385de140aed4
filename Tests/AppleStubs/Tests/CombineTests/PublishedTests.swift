import Combine
import Testing

private class Model: ObservableObject {
  @Published
  var title = "one"
  @Published
  var count = 0
}

private final class SubModel: Model {
  @Published
  var extra = false
}

private final class Plain: ObservableObject {}

@MainActor
private final class Isolated: ObservableObject {
  @Published
  var count = 0
}

@Suite
struct PublishedTests {
  @Test
  func theObjectTellsBeforeAChange() {
    let model = SubModel()
    var seen: [String] = []
    let link = model.objectWillChange.sink { seen.append("\(model.title) \(model.extra)") }
    model.title = "two"
    model.extra = true
    #expect(seen == ["one false", "two false"])
    #expect(model.title == "two")
    withExtendedLifetime(link) {}
  }

  @Test
  func thePropertyPublisherSendsTheNewValueFirst() {
    let model = Model()
    var seen: [String] = []
    let link = model.$title.sink { seen.append("\($0) \(model.title)") }
    model.title = "two"
    #expect(seen == ["one one", "two one"])
    withExtendedLifetime(link) {}
  }

  @Test
  func assignWritesProperties() {
    let model = Model()
    let subject = PassthroughSubject<Int, Never>()
    var changes = 0
    let watch = model.objectWillChange.sink { changes += 1 }
    subject.assign(to: &model.$count)
    subject.send(5)
    #expect(model.count == 5)
    #expect(changes == 1)
    let link = subject.map { "\($0)" }.assign(to: \.title, on: model)
    subject.send(6)
    #expect(model.title == "6")
    link.cancel()
    subject.send(7)
    #expect(model.title == "6" && model.count == 7)
    withExtendedLifetime(watch) {}
  }

  @Test
  func anAssignmentEndsWithItsProperty() {
    let subject = PassthroughSubject<Int, Never>()
    var cancelled = false
    weak var weakModel: Model?
    do {
      let model = Model()
      weakModel = model
      subject.handleEvents(receiveCancel: { cancelled = true }).assign(to: &model.$count)
    }
    #expect(weakModel == nil)
    #expect(cancelled)
  }

  @Test
  func oneObjectHasOnePublisher() {
    let (one, two) = (Plain(), Plain())
    #expect(one.objectWillChange === one.objectWillChange)
    #expect(one.objectWillChange !== two.objectWillChange)
    var count = 0
    let link = one.objectWillChange.sink { count += 1 }
    one.objectWillChange.send()
    #expect(count == 1)
    withExtendedLifetime(link) {}
  }

  @Test
  @MainActor
  func objectsOfTheMainActor() {
    let model = Isolated()
    var values: [Int] = []
    let link = model.$count.sink { values.append($0) }
    model.count += 1
    #expect(values == [0, 1])
    withExtendedLifetime(link) {}
  }
}
