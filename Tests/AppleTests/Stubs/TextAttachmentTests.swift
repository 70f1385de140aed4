import Testing
import UIKit
import Vitrine
import VitrineApple
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// `NSTextAttachment.vitrine(in:)`: images within a text.
@MainActor
@Suite(.patient)
struct TextAttachmentTests {
  private let setting: Setting
  private let view = UITextView(frame: CGRect(x: 0, y: 0, width: 16, height: 100))
  private let attachment = NSTextAttachment()
  private let history = History()

  init() throws {
    setting = try Setting()
    let text = NSMutableAttributedString(string: "a cat: \u{FFFC}.")
    text.addAttribute(.attachment, value: attachment, range: NSRange(location: 7, length: 1))
    view.attributedText = text
  }

  private func load(_ url: String, failure: Placeholder? = nil) {
    let loader = attachment.vitrine(in: view)
    loader.pipeline = setting.pipeline
    loader.onChange = { [history] in history.note($0) }
    loader.load(url, placeholder: .symbol("photo"), failure: failure)
  }

  @Test
  func theImageIsShownAndItsCharacterLaidOutAgain() async {
    load(Setting.cat)
    #expect(attachment.image?._facts.symbolName == "photo")
    let before = view.textStorage._edits.count

    await history.settled()

    #expect(attachment.image?.cgImage != nil)
    #expect(view.textStorage._edits.count == before + 1)
    #expect(view.textStorage._edits.last == NSRange(location: 7, length: 1))
  }

  @Test
  func anAttachmentWithoutBoundsIsNoWiderThanItsView() async {
    load(Setting.cat)
    await history.settled()
    let scale = view.traitCollection.displayScale
    #expect(attachment.image?.cgImage?.width == min(40, Int(16 * scale)))
  }

  @Test
  func boundsAreTheSizeToDecode() async {
    attachment.bounds = CGRect(x: 0, y: -2, width: 4, height: 3)
    load(Setting.cat)
    await history.settled()
    #expect(attachment.image?.cgImage?.width == Int(4 * view.traitCollection.displayScale))
  }

  @Test
  func aFailureIsShownInItsPlace() async {
    load(Setting.missing, failure: .symbol("xmark"))
    await history.settled()
    #expect(attachment.image?._facts.symbolName == "xmark")
  }

  @Test
  func anAttachmentKeepsItsLoaderAndNotItsView() {
    var text: UITextView? = UITextView(frame: .zero)
    weak let left = text
    let loader = text.map { attachment.vitrine(in: $0) }
    text = nil
    #expect(left == nil)
    #expect(attachment.vitrine(in: view) === loader)
  }
}
