import SwiftUI
import Testing

private struct CounterView: View {
  let name: String
  @State
  private var count = 0

  var body: some View {
    Button("\(name) \(count)") { count += 1 }
  }
}

private struct Twice: View {
  var body: some View {
    let row = CounterView(name: "x")
    VStack {
      row
      row
    }
  }
}

private struct Switching: View {
  let isOn: Bool
  let extra: Bool

  var body: some View {
    if extra { Text("extra") }
    if isOn { CounterView(name: "on") } else { CounterView(name: "off") }
  }
}

private struct Parent: View {
  @State
  private var text = "a"

  var body: some View {
    Text(text)
    Child(text: $text)
  }
}

private struct Child: View {
  @Binding
  var text: String

  var body: some View {
    Button("change") { text += "b" }
  }
}

private struct Bold: ViewModifier {
  @State
  private var taps = 0

  func body(content: Content) -> some View {
    content
    Button("taps \(taps)") { taps += 1 }
  }
}

@Suite
@MainActor
struct IdentityTests {
  @Test
  func equalViewsInTwoPlacesHaveTheirOwnState() {
    let host = _Host(Twice())
    host.buttons[1].tap()
    host.flush()
    #expect(host.texts == ["x 0", "x 1"])
    host.buttons[0].tap()
    host.flush()
    #expect(host.texts == ["x 1", "x 1"])
  }

  @Test
  func stateIsDroppedWhenABranchLeaves() {
    let host = _Host(Switching(isOn: true, extra: false))
    host.buttons[0].tap()
    host.update(Switching(isOn: true, extra: true))
    #expect(host.texts == ["extra", "on 1"])
    host.update(Switching(isOn: false, extra: true))
    #expect(host.texts == ["extra", "off 0"])
    host.update(Switching(isOn: true, extra: false))
    #expect(host.texts == ["on 0"])
  }

  @Test
  func explicitIdentityDropsState() {
    let host = _Host(CounterView(name: "a").id(1))
    host.buttons[0].tap()
    host.update(CounterView(name: "a").id(1))
    #expect(host.texts == ["a 1"])
    host.update(CounterView(name: "a").id(2))
    #expect(host.texts == ["a 0"])
  }

  @Test
  func rowsKeepStateWhenTheyMove() {
    func list(_ names: [String]) -> some View {
      ForEach(names, id: \.self) { CounterView(name: $0) }
    }
    let host = _Host(list(["a", "b"]))
    host.buttons[1].tap()
    host.update(list(["b", "c", "a"]))
    #expect(host.texts == ["b 1", "c 0", "a 0"])
    host.update(list(["a"]))
    host.update(list(["a", "b"]))
    #expect(host.texts == ["a 0", "b 0"])
    #expect(host.faults.isEmpty)
    host.update(list(["a", "a"]))
    #expect(host.faults.count == 1)
  }

  @Test
  func anyViewDropsStateWhenTheTypeChanges() {
    let host = _Host(AnyView(CounterView(name: "a")))
    host.buttons[0].tap()
    host.update(AnyView(CounterView(name: "b")))
    #expect(host.texts == ["b 1"])
    host.update(AnyView(Text("plain")))
    host.update(AnyView(CounterView(name: "c")))
    #expect(host.texts == ["c 0"])
  }

  @Test
  func bindingsReachTheStateOfTheParent() {
    let host = _Host(Parent())
    host.buttons[0].tap()
    #expect(host.texts.first == "a")
    host.flush()
    #expect(host.texts.first == "ab")
  }

  @Test
  func modifiersKeepState() {
    let host = _Host(Text("content").modifier(Bold()))
    host.buttons[0].tap()
    host.flush()
    #expect(host.texts == ["content", "taps 1"])
    #expect(host.kinds.contains("Bold"))
  }

  @Test
  func anEqualValueAsksForNoWalk() {
    struct Same: View {
      @State
      private var value = 1
      var body: some View {
        Button("set") { value = 1 }
      }
    }
    let host = _Host(Same())
    host.buttons[0].tap()
    #expect(!host.isPending)
    #expect(host.renders == 1)
  }

  @Test
  func aWriteDuringABodyIsAFault() {
    struct Bad: View {
      @State
      private var value = 1
      var body: some View {
        let _ = (value = 2)
        Text("\(value)")
      }
    }
    let host = _Host(Bad())
    #expect(host.faults == ["Modifying state during view update."])
  }

  @Test
  func bindingsOfClosuresConstantsAndParts() {
    var stored = CGSize(width: 1, height: 2)
    let isolated = Binding(get: { @MainActor in 5 }, set: { @MainActor _ in })
    #expect(isolated.wrappedValue == 5)
    let box = Holder()
    let binding = Binding(get: { box.size }, set: { box.size = $0 })
    binding.width.wrappedValue = 9
    stored = binding.wrappedValue
    #expect(stored == CGSize(width: 9, height: 2))
    let constant = Binding.constant(3)
    constant.wrappedValue = 4
    #expect(constant.wrappedValue == 3)
  }

  @MainActor
  private final class Holder {
    var size = CGSize(width: 1, height: 2)
  }
}
