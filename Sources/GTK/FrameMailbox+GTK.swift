import CGTK
public import Vitrine

extension FrameMailbox {
  /// The mailbox of GTK's main loop, which all pictures share.
  ///
  /// It is emptied before the loop draws and after more urgent work, for at most 4 ms. The rest waits until a frame
  /// may have been drawn.
  public static let gtk = FrameMailbox(frameInterval: .milliseconds(8)) { mailbox in
    // Before redrawing, after input and layout: a loop that draws without a pause must not delay images.
    // GLib releases the reference after the call.
    unsafe g_idle_add_full(
      G_PRIORITY_HIGH_IDLE + 15,
      { mailbox in
        guard let mailbox = unsafe mailbox else { return 0 }
        let object = unsafe Unmanaged<FrameMailbox>.fromOpaque(mailbox).takeUnretainedValue()
        MainActor.assumeIsolated { MainThreadWork.measure { object.deliver() } }
        return 0
      },
      Unmanaged.passRetained(mailbox).toOpaque(),
      releaseObject,
    )
  }
}
