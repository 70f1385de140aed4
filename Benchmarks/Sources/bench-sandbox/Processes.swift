import Foundation

/// The processes that this one has started and that have not ended.
func children() -> [pid_t] {
  let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
  return names.compactMap { pid_t($0) }.filter { fields($0).dropFirst().first.flatMap { pid_t($0) } == getpid() }
}

/// The processor time of this process, of those that it has started, and of those that have ended, in seconds.
func processorTime() -> Double {
  func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    return clock_gettime(clock, &time) == 0 ? Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 : 0
  }
  var ended = rusage()
  getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &ended)
  let times = [ended.ru_utime, ended.ru_stime].map { Double($0.tv_sec) + Double($0.tv_usec) / 1e6 }
  return children().reduce(seconds(CLOCK_PROCESS_CPUTIME_ID) + times[0] + times[1]) { sum, process in
    var clock = clockid_t()
    return clock_getcpuclockid(process, &clock) == 0 ? sum + seconds(clock) : sum
  }
}

/// The private memory of a process that is in use, in bytes.
func privateMemory(_ process: pid_t) -> Int? {
  let text = (try? String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8)) ?? ""
  let numbers = text.split(separator: " ").compactMap { Int($0) }
  return numbers.count > 2 ? (numbers[1] - numbers[2]) * sysconf(Int32(_SC_PAGESIZE)) : nil
}

/// The fields of `/proc/PID/stat` from the state on, see proc(5).
private func fields(_ process: pid_t) -> [Substring] {
  let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
  return text.split(separator: ")").last?.split(separator: " ") ?? []
}
