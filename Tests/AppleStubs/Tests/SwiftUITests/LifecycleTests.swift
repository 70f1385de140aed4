import SwiftUI
import Testing

@MainActor
private final class Log {
  var lines: [String] = []

  func add(_ line: String) {
    lines.append(line)
  }
}

private struct Page: View {
  let log: Log
  let shown: Bool
  var id = 0

  var body: some View {
    if shown {
      Text("page")
        .onAppear { log.add("appear") }
        .onDisappear { log.add("disappear") }
        .task(id: id) {
          log.add("start \(id)")
          await withTaskCancellationHandler {
            while !Task.isCancelled { await Task.yield() }
          } onCancel: {
          }
          log.add("cancelled \(id)")
        }
        .onChange(of: id) { log.add("change \($0) to \($1)") }
    } else {
      Text("empty").onAppear { log.add("empty appears") }
    }
  }
}

private struct Row: View {
  let log: Log
  let name: String
  @State
  private var isLoaded = false

  var body: some View {
    Text(isLoaded ? "\(name) loaded" : name)
      .onAppear { log.add("+\(name)") }
      .onDisappear { log.add("-\(name)") }
      .task { isLoaded = true }
  }
}

private struct Starter: View {
  @State
  private var steps = 0

  var body: some View {
    Text("steps \(steps)")
      .task {
        steps += 1
        await Task.detached {}.value
        steps += 1
      }
  }
}

@Suite
@MainActor
struct LifecycleTests {
  @Test
  func closuresRunOnceWhenAViewComesAndGoes() async {
    let log = Log()
    let host = _Host(Page(log: log, shown: true))
    #expect(log.lines == ["appear"])
    await host.settle { log.lines.contains("start 0") }
    host.update(Page(log: log, shown: true))
    #expect(log.lines == ["appear", "start 0"])
    host.update(Page(log: log, shown: false))
    #expect(log.lines == ["appear", "start 0", "empty appears", "disappear"])
    await host.settle { log.lines.contains("cancelled 0") }
    #expect(log.lines.last == "cancelled 0")
    #expect(host.texts == ["empty"])
  }

  @Test
  func aTaskStartsAnewWhenItsIdentityChanges() async {
    let log = Log()
    let host = _Host(Page(log: log, shown: true))
    await host.settle { log.lines.contains("start 0") }
    host.update(Page(log: log, shown: true, id: 1))
    await host.settle { log.lines.contains("cancelled 0") && log.lines.contains("start 1") }
    #expect(log.lines.sorted() == ["appear", "cancelled 0", "change 0 to 1", "start 0", "start 1"])
    host.unmount()
    await host.settle { log.lines.contains("cancelled 1") }
    #expect(log.lines.contains("disappear"))
    #expect(log.lines.contains("cancelled 1"))
    #expect(host.texts.isEmpty)
  }

  @Test
  func tasksWriteState() async {
    let host = _Host(Starter())
    #expect(host.texts == ["steps 0"])
    await host.settle { host.texts == ["steps 2"] }
    #expect(host.texts == ["steps 2"])
  }

  @Test
  func aTaskThatOutlivesItsViewChangesNothing() async {
    struct Late: View {
      let gate: AsyncStream<Void>
      @State
      private var text = "waiting"
      var body: some View {
        Text(text).task {
          for await _ in gate { break }
          text = "done"
        }
      }
    }
    let (stream, gate) = AsyncStream<Void>.makeStream()
    let host = _Host(Late(gate: stream))
    await host.settle()
    let renders = host.renders
    host.unmount()
    gate.yield()
    await host.settle()
    #expect(host.renders == renders)
  }

  @Test
  func rowsOutOfSightDisappearAndKeepState() async {
    let log = Log()
    let view = ScrollView {
      LazyVStack {
        ForEach(0..<5, id: \.self) { Row(log: log, name: "r\($0)") }
      }
    }
    let host = _Host(view, visibleRows: 0..<2)
    await host.settle { host.texts == ["r0 loaded", "r1 loaded"] }
    #expect(host.texts == ["r0 loaded", "r1 loaded"])
    host.visibleRows = 1..<3
    host.flush()
    #expect(log.lines.sorted() == ["+r0", "+r1", "+r2", "-r0"])
    #expect(host.texts == ["r1 loaded", "r2"])
    host.visibleRows = 0..<1
    host.flush()
    #expect(host.texts == ["r0 loaded"])
    #expect(log.lines.filter { $0 == "+r0" }.count == 2)
    host.unmount()
    #expect(log.lines.filter { $0 == "-r0" }.count == 2)
    #expect(log.lines.filter { $0 == "-r2" }.count == 1)
  }

  @Test
  func onChangeMayRunAtFirst() {
    let log = Log()
    func view(_ value: Int) -> some View {
      EmptyView().onChange(of: value, initial: true) { log.add("\($0) \($1)") }
    }
    let host = _Host(view(1))
    host.update(view(1))
    host.update(view(2))
    #expect(log.lines == ["1 1", "1 2"])
  }
}
