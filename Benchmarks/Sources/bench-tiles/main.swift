// make bench NAME=tiles: photographs of 100 megapixels, a tile at a time: when there is something to see, when the whole, what
// a tile costs, and what is found again the next time; beside it the pyramid of libvips' dzsave.
//
// Arguments are files. Each is measured in a process of its own, so that its memory is its own.

import Contest
import Foundation

let arguments = CommandLine.arguments.dropFirst()
if arguments.first == "--one", let file = arguments.last {
  try await measure(file: file)
  exit(0)
}

say("# Photographs of any size, a tile at a time\n")
say("- by the clock in ms, files in the system's page cache; each file in a process of its own with an empty cache\n")
say("| file | MB | open | first picture | whole picture | all tiles | tile, median | at most | CPU, s | peak, MB |")
say("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
var again: [String] = []
for file in arguments {
  let lines = try output(CommandLine.arguments[0], ["--one", file]).split(separator: "\n").map(String.init)
  if let line = lines.first { say(line) }
  again += lines.dropFirst()
}
say(
  """

  *first picture*: the first of `overviews(maximum: 2048)`, rows may be missing; *whole picture*: the last of them. *all \
  tiles*: every tile of every level has been made; of a JPEG, whose index makes the fine ones when they are asked for, the \
  coarse levels. *tile*: 60 tiles of levels 0 to 2 in random places, one after the other, once all that is made in a pass \
  has been.

  The next time, with a new pipeline over the same folder:

  | file | whole picture | tile, median | at most | on disk, MB |
  |---|---:|---:|---:|---:|
  """
)
for line in again { say(line) }
say("\nlibvips' `vips dzsave` of the same files into 512-pixel tiles, for comparison (JPEG tiles, its default):\n")
say("| file | by the clock | CPU, s | peak, MB |")
say("|---|---:|---:|---:|")
for file in arguments { say(try pyramidOfVips(file)) }
