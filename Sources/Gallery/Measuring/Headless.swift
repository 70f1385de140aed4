import CGTK
import VitrineRuntime

/// Runs the gallery under a virtual display, if there is no display or none is wanted.
@MainActor
enum Headless {
  private static let marker = "VITRINE_GALLERY_HEADLESS"

  /// True if this process runs under a virtual display of its own.
  static var isEntered: Bool { ProcessInfo.processInfo.environment[marker] != nil }

  /// Replaces the process with the same program under Xvfb, if needed; otherwise returns.
  static func enterIfNeeded(_ options: Options, _ arguments: [String]) throws(Options.Mistake) {
    if isEntered { return }
    let wantsTour = options.isHeadless || options.styles.count > 1
    if !wantsTour, gtk_init_check() != 0 { return }
    guard isInstalled("xvfb-run") else {
      throw Options.Mistake(
        message: "there is no display to open a window on; for a virtual one, apt-get install xvfb xauth"
      )
    }
    unsafe setenv(marker, "1", 1)
    // Draws on the processor, over X, without features that a machine without a desktop lacks.
    unsafe setenv("GDK_BACKEND", "x11", 1)
    unsafe setenv("GSK_RENDERER", "cairo", 1)
    unsafe setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1)
    // Nor loads a compiler of shaders, which takes 100 MB that no program on a desktop with a graphics card spends.
    unsafe setenv("GDK_DEBUG", "gl-disable", 1)
    unsafe setenv("GTK_A11Y", "none", 1)
    if ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"] == nil {
      let folder = FileManager.default.temporaryDirectory.appending(path: "vitrine-gallery-\(getuid())")
      _ = unsafe mkdir(folder.path(percentEncoded: false), 0o700)
      unsafe setenv("XDG_RUNTIME_DIR", folder.path(percentEncoded: false), 1)
    }
    let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "vitrine-gallery"
    let words = ["xvfb-run", "-a", "-s", "-screen 0 1280x900x24", program] + arguments
    // Never freed: the process is replaced.
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) }
    unsafe pointers.append(nil)
    unsafe execvp("xvfb-run", &pointers)
    throw Options.Mistake(message: "xvfb-run could not be started: error \(errno)")
  }

  private static func isInstalled(_ program: String) -> Bool {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
    return path.split(separator: ":").contains { unsafe access("\($0)/\(program)", X_OK) == 0 }
  }
}
