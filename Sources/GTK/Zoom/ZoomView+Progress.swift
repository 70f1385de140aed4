import CGTK
import Vitrine

extension ZoomView: RingHost {
  func redraw() { unsafe gtk_widget_queue_draw(widget) }

  /// Calls a closure with each child that is laid out: the icon, the ring and the button.
  func forEachChild(_ body: (UnsafeMutablePointer<GtkWidget>) -> Void) {
    var next: UnsafeMutablePointer<GtkWidget>? = unsafe gtk_widget_get_first_child(widget)
    while let child = unsafe next {
      if unsafe gtk_widget_should_layout(child) != 0 { unsafe body(child) }
      unsafe next = gtk_widget_get_next_sibling(child)
    }
  }

  var showsPixels: Bool {
    switch standIn {
    case .none, .icon: tiles?.overview != nil || frame != nil
    case .texture, .color: true
    }
  }

  var showsProgress: Bool {
    get { ring != nil }
    set {
      guard newValue != showsProgress else { return }
      if let ring { unsafe gtk_widget_unparent(ring.widget) }
      ring = newValue ? ProgressRing() : nil
      guard let ring else { return }
      ring.view = self
      // The parent owns the child from now on, until `dispose`.
      unsafe gtk_widget_insert_before(ring.widget, widget, retryButton?.widget)
      updateRing()
    }
  }

  var showsRetry: Bool {
    get { retryButton != nil }
    set {
      guard newValue != showsRetry else { return }
      if let retryButton { unsafe gtk_widget_unparent(retryButton.widget) }
      retryButton = newValue ? RetryButton { [weak self] in self?.retry() } : nil
      guard let retryButton else { return }
      // The parent owns the child from now on, until `dispose`.
      unsafe gtk_widget_set_parent(retryButton.widget, widget)
      retryButton.isShown = failure != nil
    }
  }

  /// Shows the ring while not even the whole picture in a small size is there.
  func updateRing() {
    let isWaiting =
      switch content {
      case .loading: true
      case .partial: tiles?.isOverviewFinished == false && frame == nil
      case .empty, .complete, .failure: false
      }
    guard isWaiting != ring?.isRunning else { return }
    if isWaiting { ring?.begin() } else { ring?.end() }
  }
}
