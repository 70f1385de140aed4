import CGTK
import CVitrineGTK
import Dispatch
import VitrineRuntime

/// Lets GLib's main loop run what is sent to the main actor.
///
/// In a program whose main thread stands in `g_application_run` or `g_main_loop_run`, nothing drains libdispatch's main
/// queue: `Task { @MainActor in … }` never begins and an `await` on the main actor never returns. While the source is
/// attached both work.
///
/// ```swift
/// MainActorSource.attach()
/// g_application_run(application, 0, nil)
/// ```
/// ``RemotePicture`` attaches it by itself. A hop costs some microseconds.
@MainActor
public enum MainActorSource {
  private static var id: guint = 0

  /// Whether the source is attached.
  public static var isAttached: Bool { id != 0 }

  /// Adds the source to GLib's main context; does nothing where it is attached already.
  ///
  /// - Parameter priority: The source's, in GLib's numbers; that of events (`G_PRIORITY_DEFAULT`, 0) by default, so
  ///   that neither redrawing nor the main actor starves the other.
  public static func attach(priority: Int = 0) {
    guard id == 0 else { return }
    // libdispatch signals this descriptor whenever it puts work into its empty main queue.
    let descriptor = _dispatch_get_main_queue_handle_4CF()
    // The function keeps nothing and is given nothing.
    id = unsafe g_unix_fd_add_full(
      gint(priority),
      descriptor,
      G_IO_IN,
      { descriptor, _, _ in
        var signals: UInt64 = 0
        // Acknowledged before the queue is drained, so that what comes meanwhile signals anew.
        _ = unsafe read(descriptor, &signals, MemoryLayout.size(ofValue: signals))
        _dispatch_main_queue_callback_4CF(nil)
        return gboolean(1)
      },
      nil,
      nil,
    )
  }

  /// Takes the source away again; does nothing where there is none.
  public static func detach() {
    guard id != 0 else { return }
    g_source_remove(id)
    id = 0
  }
}
