public import CGTK
import Vitrine

extension ZoomPicture {
  /// The class of such widgets for descriptions of interfaces (`.ui` files), which name it `VitrineZoomPicture`.
  ///
  /// Reading this registers the class: do so before a description is read. Its properties are `uri`, `animates`, `plays`,
  /// `shows-progress`, `shows-retry` and `has-chequerboard`; it loads through the program's shared pipeline.
  public static var type: GType { built.type }

  private static let built = BuiltClass(
    "VitrineZoomPicture",
    cssName: "vitrine-zoom",
    [
      BuiltProperty("uri", \ZoomView.uri), BuiltProperty("animates", \ZoomView.animates),
      BuiltProperty("plays", \ZoomView.plays), BuiltProperty("shows-progress", \ZoomView.showsProgress),
      BuiltProperty("shows-retry", \ZoomView.showsRetry),
      BuiltProperty("has-chequerboard", \ZoomView.backing.hasChequers),
    ],
  ) { widget in
    _ = ZoomView(ImagePipeline.shared, minimumSize: (0, 0), built: widget)
  }
}

extension ZoomView {
  /// The URL that is shown.
  fileprivate var uri: String {
    get { builtURI }
    set {
      builtURI = newValue
      let request = newValue.isEmpty ? nil : ImageRequest(.url(newValue))
      load(request, placeholder: .none, failure: .symbol("image-missing"))
    }
  }
}
