import AppKit
import Testing

private final class RecordingView: NSView {
  var log: [String] = []

  override func viewDidMoveToWindow() { log.append("window \(window != nil)") }
  override func layout() { log.append("layout") }
}

@MainActor
struct AppKitTests {
  @Test
  func aViewHearsOfItsWindowAndOfItsLayout() {
    let frame = NSRect(x: 0, y: 0, width: 100, height: 100)
    let window = NSWindow(contentRect: frame, styleMask: [], backing: .buffered, defer: false)
    let view = RecordingView(frame: frame)
    window.contentView?.addSubview(view)
    window._layoutTree()
    #expect(view.log == ["window true", "layout"])
    view.frame.size.width = 50
    window._layoutTree()
    #expect(view.log == ["window true", "layout", "layout"])
  }
}
