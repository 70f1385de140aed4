import AppKit
import Testing

/// Runs a test on a clock of its own.
@MainActor
func withOwnClock(_ body: @MainActor () throws -> Void) rethrows {
  try _Clock.$_current.withValue(_Clock()) { try body() }
}

final class RecordingView: NSView {
  var log: [String] = []

  override var isFlipped: Bool { true }
  override var wantsUpdateLayer: Bool { true }
  override func viewDidMoveToWindow() { log.append("window \(window != nil)") }
  override func viewDidChangeBackingProperties() { log.append("scale") }
  override func updateLayer() { log.append("update") }
}

@MainActor
final class Rows: NSObject, NSTableViewDataSource, NSTableViewDelegate {
  var made = 0

  func numberOfRows(in tableView: NSTableView) -> Int { 20 }

  func tableView(_ tableView: NSTableView, viewFor tableColumn: NSTableColumn?, row: Int) -> NSView? {
    let identifier = NSUserInterfaceItemIdentifier("cell")
    if let view = tableView.makeView(withIdentifier: identifier, owner: self) { return view }
    made += 1
    let view = NSTableCellView()
    view.identifier = identifier
    return view
  }
}

@MainActor
@Suite("AppKit")
struct AppKitTests {
  private func makeWindow() -> NSWindow {
    NSWindow(
      contentRect: NSRect(x: 0, y: 0, width: 100, height: 100),
      styleMask: [.titled],
      backing: .buffered,
      defer: false,
    )
  }

  @Test("A picture gives the pixels that suit a rectangle")
  func image() {
    let small = CGImage._make(width: 10, height: 10)
    let large = CGImage._make(width: 20, height: 20)
    let image = NSImage(cgImage: small, size: .zero)
    #expect(image.size == NSSize(width: 10, height: 10))
    image.addRepresentation(NSBitmapImageRep(cgImage: large))
    #expect(image.cgImage(forProposedRect: nil, context: nil, hints: nil) === small)
    var rect = NSRect(x: 0, y: 0, width: 15, height: 15)
    #expect(image.cgImage(forProposedRect: &rect, context: nil, hints: nil) === large)
    NSImage._register(large, size: NSSize(width: 5, height: 5), named: "cat")
    #expect(NSImage(named: "cat")?.size.width == 5)
    #expect(NSImage(named: "no such cat") == nil)
  }

  @Test("A symbol takes settings, which combine")
  func symbol() {
    let star = NSImage(systemSymbolName: "star", accessibilityDescription: "Star")
    #expect(star?.isTemplate == true)
    let bold = NSImage.SymbolConfiguration(pointSize: 20, weight: .bold)
    let both = bold.applying(NSImage.SymbolConfiguration(paletteColors: [.systemRed]))
    #expect(both._values.weight == .bold)
    #expect(star?.withSymbolConfiguration(both)?.symbolConfiguration == both)
    #expect(star?.withSymbolConfiguration(both)?.accessibilityDescription == "Star")
    #expect(NSImage(size: .zero).withSymbolConfiguration(bold) == nil)
  }

  @Test("A view hears of its window and of the scale, and fills its layer at the turn")
  func view() {
    withOwnClock {
      let window = makeWindow()
      let view = RecordingView(frame: NSRect(x: 0, y: 0, width: 50, height: 50))
      view.wantsLayer = true
      window.contentView?.addSubview(view)
      #expect(view.log == ["window true", "scale"])
      #expect(view.layer?.contentsScale == 2)
      window._setBackingScaleFactor(1)
      #expect(view.convertToBacking(NSSize(width: 3, height: 3)).width == 3)
      view.log = []
      _RunLoop.turn()
      _RunLoop.turn()
      #expect(view.log == ["update"])
      view.removeFromSuperview()
      #expect(view.log == ["update", "window false"])
      #expect(view.window == nil)
    }
  }

  @Test("Constraints place a view")
  func layout() {
    withOwnClock {
      let window = makeWindow()
      let view = NSImageView(image: NSImage(cgImage: CGImage._make(width: 10, height: 20), size: .zero))
      view.translatesAutoresizingMaskIntoConstraints = false
      let content = window.contentView
      content?.addSubview(view)
      guard let content else { return }
      NSLayoutConstraint.activate([
        view.centerXAnchor.constraint(equalTo: content.centerXAnchor),
        view.bottomAnchor.constraint(equalTo: content.bottomAnchor, constant: -10),
      ])
      _RunLoop.turn()
      #expect(view.frame == NSRect(x: 45, y: 70, width: 10, height: 20))
    }
  }

  @Test("An image view shows pixels in its layer, and keeps its history")
  func imageView() {
    let pixels = CGImage._make(width: 4, height: 4)
    let view = NSImageView()
    view.wantsLayer = true
    view.image = NSImage(cgImage: pixels, size: .zero)
    #expect(view.layer?.contents as? CGImage === pixels)
    view.image = nil
    #expect(view._imageHistory.count == 2)
    #expect(view.preferredImageDynamicRange == .constrainedHigh)
    view.addSymbolEffect(.bounce)
    #expect(view._symbolEffects.active.count == 1)
    view.removeAllSymbolEffects()
    #expect(view._symbolEffects.active.isEmpty)
  }

  @Test("A group of animations ends on the clock")
  func animation() {
    withOwnClock {
      let view = NSView(frame: .zero)
      view.wantsLayer = true
      var isDone = false
      NSAnimationContext.runAnimationGroup { context in
        context.duration = 2
        view.animator().alphaValue = 0
      } completionHandler: {
        isDone = true
      }
      #expect(view.layer?.animation(forKey: "opacity")?.duration == 2)
      _RunLoop._advance(by: 1)
      #expect(!isDone)
      _RunLoop._advance(by: 1)
      #expect(isDone)
    }
  }

  @Test("A table uses its views again")
  func table() {
    let rows = Rows()
    let table = NSTableView(frame: NSRect(x: 0, y: 0, width: 100, height: 48))
    table.addTableColumn(NSTableColumn(identifier: NSUserInterfaceItemIdentifier("column")))
    table.dataSource = rows
    table.delegate = rows
    table.layoutSubtreeIfNeeded()
    #expect(rows.made == 2)
    let view = table.view(atColumn: 0, row: 0, makeIfNecessary: false)
    table._scroll(to: 240)
    #expect(rows.made == 2)
    #expect(view.map { table.row(for: $0) } ?? -1 >= 10)
    #expect(table.view(atColumn: 0, row: 0, makeIfNecessary: false) == nil)
  }

  @Test("The app and the workspace tell of their changes under Apple's names")
  func application() {
    #expect(NSApplication.didHideNotification.rawValue == "NSApplicationDidHideNotification")
    NSApplication.shared.hide(nil)
    #expect(!NSApplication.shared.isActive)
    NSApplication.shared.unhide(nil)
    #expect(NSApplication.shared.isActive)
    NSWorkspace.shared._setReduceMotion(true)
    #expect(NSWorkspace.shared.accessibilityDisplayShouldReduceMotion)
    NSWorkspace.shared._setReduceMotion(false)
  }
}
