import Foundation

/// What this process holds of the system.
struct Facts: CustomStringConvertible {
  let children: Int
  let descriptors: Int
  let megabytes: Int
  let sharedMappings: Int

  init() {
    children = sandbox_faults.children().count
    descriptors = openFiles().count
    let memory = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    let pages = memory.split(separator: " ").compactMap { Int($0) }
    megabytes = pages.count > 1 ? (pages[1] * sysconf(Int32(_SC_PAGESIZE))) >> 20 : 0
    let maps = (try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)) ?? ""
    sharedMappings = maps.split(separator: "\n").count { $0.contains("memfd:vitrine") }
  }

  var description: String {
    "\(children) processes, \(descriptors) descriptors, \(megabytes) MB, \(sharedMappings) shared mappings"
  }
}

/// What the descriptors of this process refer to, but for those of Swift's own threads.
func openFiles() -> [String] {
  let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
  return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
    .filter { !$0.contains("anon_inode") }
}

/// The processes that this one has started, also those that have ended and were not waited for.
func children() -> [pid_t] {
  let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
  return names.compactMap { pid_t($0) }.filter { process in
    let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
    let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
    return fields.count > 1 && pid_t(fields[1]) == getpid()
  }
}
