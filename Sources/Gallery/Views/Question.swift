import CGTK
import VitrineGTK

/// A window that asks for a confirmation or a text before a command.
@MainActor
final class Question {
  /// The open question, which is kept only here.
  private static var open: Question?

  private let window: Widget
  private let entry: Widget?
  private let accept: Widget
  private let answered: @MainActor (String) -> Void

  /// Asks a question over a window; nothing is called if the user cancels.
  ///
  /// - Parameters:
  ///   - owner: The window.
  ///   - question: The question.
  ///   - detail: A further sentence. Defaults to none.
  ///   - answer: The title of the button that answers.
  ///   - isDestructive: A Boolean value that indicates whether the answer loses something. Defaults to `false`.
  ///   - text: The text to change; `nil`, the default, for a question without one.
  ///   - answered: Called with the text.
  static func ask(
    in owner: Widget,
    _ question: String,
    detail: String = "",
    answer: String,
    isDestructive: Bool = false,
    text: String? = nil,
    _ answered: @escaping @MainActor (String) -> Void,
  ) {
    open?.close()
    open = Question(in: owner, question, detail, answer, isDestructive, text, answered)
  }

  private init(
    in owner: Widget,
    _ question: String,
    _ detail: String,
    _ answer: String,
    _ isDestructive: Bool,
    _ text: String?,
    _ answered: @escaping @MainActor (String) -> Void,
  ) {
    self.answered = answered
    window = Widget(of: gtk_window_get_type())
    window.set("resizable", false)
    window.set("title", question)
    let label = Widget.label(question, "title-4")
    label.set("wrap", true)
    label.set("max-width-chars", 40)
    let box = Widget.box(GTK_ORIENTATION_VERTICAL, spacing: 12, [label]).margins(18)
    if !detail.isEmpty { box.add(.label(detail)) }
    entry = text.map { text in
      let entry = Widget(of: gtk_entry_get_type())
      entry.set("text", text)
      entry.set("activates-default", true)
      entry.set("width-chars", 36)
      entry.setAccessibleName(question)
      box.add(entry)
      return entry
    }
    let cancel = Widget.button(translated("Cancel"))
    accept = .button(answer)
    accept.addClass(isDestructive ? "destructive-action" : "suggested-action")
    for button in [cancel, accept] { button.expands(vertically: false) }
    box.add(.box(GTK_ORIENTATION_HORIZONTAL, spacing: 12, [cancel, accept]))
    window.add(box)
    // A loss is not accepted by the Return key alone.
    window.set("default-widget", isDestructive ? cancel : accept)
    connect(cancel)
    Dialogs.present(window, over: owner)
    select(text)
  }

  private func connect(_ cancel: Widget) {
    cancel.on("clicked") { [weak self] in self?.close() }
    accept.on("clicked") { [weak self] in self?.finish() }
    window.on(
      "close-request",
      answering: { () -> Bool in
        Self.open = nil
        return false
      },
    )
  }

  /// Gives the keyboard to the text, whose stem is selected: the extension rarely changes.
  private func select(_ text: String?) {
    guard let entry else { return }
    entry.focus()
    if let text {
      let stem = text.lastIndex(of: ".").map { text.distance(from: text.startIndex, to: $0) } ?? -1
      unsafe gtk_editable_select_region(
        cast(entry.pointer, as: gtk_editable_get_type()),
        0,
        gint(stem > 0 ? stem : -1),
      )
    }
  }

  private func finish() {
    let text: String = entry?.get("text") ?? ""
    close()
    answered(text)
  }

  private func close() { window.close() }
}
