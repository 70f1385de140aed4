// A program that imports only VitrineImaging, to measure its size and start-up. With a file it decodes that too.

import VitrineImaging

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

if CommandLine.arguments.count > 1 {
  let data = try Data(contentsOf: URL(filePath: CommandLine.arguments[1]))
  print(try Bitmap(decoding: data, size: .pixels(300, 300)).width)
}
