import CGTK
import CVitrineGTK
import Dispatch
import VitrineRuntime

/// Runs the main actor's work in GLib's main loop.
///
/// If the main thread runs `g_application_run` or `g_main_loop_run`, nothing drains libdispatch's main queue:
/// `Task { @MainActor in … }` never begins and an `await` on the main actor never returns. While the source is
/// attached, both work.
///
/// ```swift
/// MainActorSource.attach()
/// g_application_run(application, 0, nil)
/// ```
/// ``RemotePicture`` attaches it. A hop to the main actor takes a few microseconds.
@MainActor
public enum MainActorSource {
  private static var id: guint = 0

  /// A Boolean value that indicates whether the source is attached.
  public static var isAttached: Bool { id != 0 }

  /// Adds the source to GLib's main context; does nothing if it is already attached.
  ///
  /// - Parameter priority: The priority in GLib's numbers. Defaults to the priority of events (`G_PRIORITY_DEFAULT`, 0), so
  ///   that neither redrawing nor the main actor starves the other.
  public static func attach(priority: Int = 0) {
    guard id == 0 else { return }
    // libdispatch signals this descriptor whenever it adds work to its empty main queue.
    let descriptor = _dispatch_get_main_queue_handle_4CF()
    // The function has no user data and retains nothing.
    id = unsafe g_unix_fd_add_full(
      gint(priority),
      descriptor,
      G_IO_IN,
      { descriptor, _, _ in
        var signals: UInt64 = 0
        // Acknowledged before the queue is drained, so that work added meanwhile signals again.
        _ = unsafe read(descriptor, &signals, MemoryLayout.size(ofValue: signals))
        _dispatch_main_queue_callback_4CF(nil)
        return gboolean(1)
      },
      nil,
      nil,
    )
  }

  /// Removes the source; does nothing if it is not attached.
  public static func detach() {
    guard id != 0 else { return }
    g_source_remove(id)
    id = 0
  }
}
