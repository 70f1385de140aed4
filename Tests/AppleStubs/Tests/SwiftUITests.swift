import SwiftUI
import Testing

@MainActor
private final class Log {
  var lines: [String] = []
}

@Observable
@MainActor
private final class Model {
  var title = "one"
  var unread = 0
}

private struct Counted: View {
  let log: Log
  var name = "view"
  @State
  private var model = Model()

  var body: some View {
    Text("\(name) \(model.title)")
      .onAppear {
        log.lines.append("\(name) appears")
        model.title = "seen"
      }
      .onDisappear { log.lines.append("\(name) disappears") }
      .onChange(of: name) { log.lines.append("\(name) changes") }
  }
}

private struct Page: View {
  let log: Log
  var name = "view"
  var isShown = true

  var body: some View {
    if isShown { Counted(log: log, name: name) } else { Text("nothing") }
  }
}

@Suite
@MainActor
struct SwiftUITests {
  private let log = Log()

  @Test
  func stateLastsAsLongAsItsViewAndAppearsAnewAfterwards() {
    let host = _Host(Page(log: log))
    host.flush()
    #expect(host.texts == ["view seen"])
    host.update(Page(log: log, name: "other"))
    #expect(host.texts == ["other seen"])
    host.update(Page(log: log, isShown: false))
    #expect(host.texts == ["nothing"])
    host.update(Page(log: log))
    #expect(log.lines == ["view appears", "other changes", "other disappears", "view appears"])
    #expect(host.texts == ["view one"])
    #expect(host.isPending)
  }

  @Test
  func aPropertyThatIsReadAsksForAWalkAndAnotherDoesNot() async {
    struct Shown: View {
      let model: Model
      var body: some View { Text("\(model.title)") }
    }
    let model = Model()
    let host = _Host(Shown(model: model))
    model.unread = 1
    #expect(!host.isPending)
    model.title = "two"
    #expect(host.isPending)
    await host.settle()
    #expect(host.texts == ["two"])
    #expect(host.renders == 2)
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
    #expect(_Host(Bad()).faults == ["Modifying state during view update."])
  }

  @Test
  func valuesOfTheEnvironmentReachTheViewsWithin() {
    struct Shown: View {
      @Environment(\.allowedDynamicRange)
      private var range
      var body: some View { Text(range == .high ? "high" : "none") }
    }
    #expect(_Host(Shown()).texts == ["none"])
    #expect(_Host(Shown().environment(\.allowedDynamicRange, .high)).texts == ["high"])
  }

  @Test(arguments: [true, false])
  func aTimelineFollowsTheClockUnlessItIsPaused(isPaused: Bool) {
    let start = Date(timeIntervalSinceReferenceDate: 0)
    let host = _Host(
      TimelineView(.animation(paused: isPaused)) { Text("\($0.date.timeIntervalSince(start))") }
    )
    host._advance(by: 1)
    #expect(host.texts == [isPaused ? "0.0" : "1.0"])
  }

  @Test
  func anAnimationIsThatOfTheChangeAlone() async {
    struct Shown: View {
      let model: Model
      let picture: CGImage
      var body: some View { Image(decorative: picture, scale: CGFloat(model.title.count)) }
    }
    guard let provider = CGDataProvider(data: NSData(data: Data(count: 4))),
      let picture = CGImage(
        width: 1,
        height: 1,
        bitsPerComponent: 8,
        bitsPerPixel: 32,
        bytesPerRow: 4,
        space: CGColorSpaceCreateDeviceRGB(),
        bitmapInfo: CGBitmapInfo(rawValue: CGImageAlphaInfo.last.rawValue),
        provider: provider,
        decode: nil,
        shouldInterpolate: true,
        intent: .defaultIntent,
      )
    else {
      Issue.record("no picture")
      return
    }
    let model = Model()
    let host = _Host(Shown(model: model, picture: picture))
    #expect(host.images.map(\.animation) == [nil])
    withTransaction(Transaction(animation: .default)) { model.title = "four" }
    await host.settle()
    #expect(host.images.map(\.animation) == [.default])
    model.title = "seven"
    await host.settle()
    #expect(host.images.map(\.animation) == [nil])
  }
}
