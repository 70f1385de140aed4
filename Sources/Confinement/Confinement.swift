import CVitrineConfinement
import VitrineRuntime
package import VitrineSandbox

/// The restrictions that a process puts on itself before it reads a stranger's first byte.
///
/// A process that has been taken over can then use the memory and the descriptors that it has, and nothing else of the
/// system. It needs no rights to confine itself, and cannot undo it. See seccomp(2), landlock(7), user_namespaces(7).
package struct Confinement: Sendable {
  /// A restriction; the cases are in the order in which they are put in place.
  package typealias Layer = Sandbox.Layer

  /// The folders that fontconfig reads.
  private static let fontFolders = [
    "/etc/fonts", "/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/fontconfig", "/usr/share/xml/fontconfig",
    "/var/cache/fontconfig",
  ]

  /// The layers that the system refused, with its error.
  package private(set) var missing: [Layer: Int32] = [:]

  /// Confines the calling process, which must have one thread.
  ///
  /// It keeps its descriptors 0, 1 and 2. A layer that the system refuses is left out.
  ///
  /// - Parameter readsFonts: True if fonts may be read, for text in drawings. Without Landlock they may not.
  /// - Returns: The layers in place, and those that are missing.
  package static func enter(readsFonts: Bool) -> Confinement {
    var confinement = Confinement()
    // Swift's runtime would start another program to print where it crashed, and wait for that.
    for number in [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGTRAP] { signal(number, SIG_DFL) }
    confinement.note(.descriptors, vitrine_close_descriptors(3))
    confinement.note(.limits, limit(RLIMIT_CORE, to: 0))
    confinement.note(.limits, limit(RLIMIT_FSIZE, to: 0))
    confinement.note(.limits, limit(RLIMIT_NOFILE, to: 64))
    confinement.note(.privileges, vitrine_give_up_privileges())
    confinement.note(.namespaces, vitrine_leave_namespaces())
    confinement.note(.landlock, forbidFiles(but: readsFonts ? fontFolders : []))
    let opensFiles = readsFonts && confinement.missing[.landlock] == nil
    confinement.note(.seccomp, SystemCalls.filter(opensFiles: opensFiles))
    return confinement
  }

  private mutating func note(_ layer: Layer, _ code: Int32) {
    if code != 0 { missing[layer] = code }
  }

  private static func limit(_ resource: __rlimit_resource, to count: rlim_t) -> Int32 {
    var limit = rlimit(rlim_cur: count, rlim_max: count)
    // The kernel only reads `limit`.
    return unsafe setrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 ? 0 : errno
  }

  private static func forbidFiles(but folders: [String]) -> Int32 {
    // Copies that outlive the call.
    let paths = unsafe folders.map { unsafe UnsafePointer(strdup($0)) }
    defer { unsafe paths.forEach { unsafe free(UnsafeMutablePointer(mutating: $0)) } }
    return unsafe vitrine_forbid_files(paths, paths.count)
  }
}
