public import CGTK
import Vitrine

extension RemotePicture {
  /// The class of such widgets for descriptions of interfaces (`.ui` files), which name it `VitrineRemotePicture`.
  ///
  /// Reading this registers the class: do so before a description is read. Its properties are `uri`, `mode` (`fit`, `fill` or
  /// `exact`), `animates`, `plays`, `shows-previews`, `shows-progress` and `shows-retry`; it loads through the program's
  /// shared pipeline.
  public static var type: GType { built.type }

  private static let built = BuiltClass(
    "VitrineRemotePicture",
    cssName: "vitrine-picture",
    [
      BuiltProperty("uri", \PictureView.uri), BuiltProperty("mode", \PictureView.modeName),
      BuiltProperty("animates", \PictureView.slot.animates), BuiltProperty("plays", \PictureView.plays),
      BuiltProperty("shows-previews", \PictureView.slot.showsPreviews),
      BuiltProperty("shows-progress", \PictureView.showsProgress),
      BuiltProperty("shows-retry", \PictureView.showsRetry),
    ],
  ) { widget in
    let slot = ImageSlot(pipeline: .shared, mailbox: .gtk)
    _ = PictureView(slot, minimumSize: (0, 0), mode: .fill, built: widget)
  }
}

extension PictureView {
  /// The URL that is shown.
  fileprivate var uri: String {
    get { builtURI }
    set {
      builtURI = newValue
      slot.load(newValue.isEmpty ? nil : ImageRequest(.url(newValue)), failure: .symbol("image-missing"))
    }
  }

  /// The mode by its name; another text changes nothing.
  fileprivate var modeName: String {
    get { mode.rawValue }
    set { if let new = TargetSize.Mode(rawValue: newValue) { mode = new } }
  }
}
