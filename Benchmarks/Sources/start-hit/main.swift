// A small program with Vitrine: it loads the image at a URL at 300 pixels, and saves it. Without arguments it ends at once.
//
// It prints the microseconds of CPU time when `main` begins, then the CPU time and the time by the clock that the image
// took, and the time by the clock that the first call kept its thread.

import Vitrine

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#endif

func microseconds(_ clock: clockid_t) -> Int {
  var time = timespec()
  clock_gettime(clock, &time)
  return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
}

let (cpu, wall) = (microseconds(CLOCK_PROCESS_CPUTIME_ID), microseconds(CLOCK_MONOTONIC))
guard CommandLine.arguments.count > 2 else { exit(0) }
let task = ImagePipeline.shared.imageTask(for: ImageRequest(url: CommandLine.arguments[1], size: .pixels(300, 300)))
let call = microseconds(CLOCK_MONOTONIC) - wall
let response = try await task.response
let encoded = try response.image.encoded(as: .jpeg)
try encoded.write(to: URL(filePath: CommandLine.arguments[2]))
print(
  cpu,
  microseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu,
  microseconds(CLOCK_MONOTONIC) - wall,
  call,
  response.origin,
)
if CommandLine.arguments.count > 3 { await ImagePipeline.shared.cache.flush() }
