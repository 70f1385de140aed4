// batch FOLDER OUT: thumbnails of all pictures in a folder, on all cores.
import Foundation
import VitrineImaging

@main
enum Batch {
  static func main() async throws {
    let (folder, out) = (URL(filePath: CommandLine.arguments[1]), URL(filePath: CommandLine.arguments[2]))
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
      .filter { ImageFormat(fileExtension: URL(filePath: $0).pathExtension) != nil }
    let failures = try await withThrowingTaskGroup { group in
      for name in names {
        group.addTask {
          do {
            let data = try Data(contentsOf: folder.appending(path: name))
            let thumbnail = try await Bitmap.byDecoding(data, size: .pixels(300, 300, .fill))
            try thumbnail.encoded(as: .jpeg(quality: 80)).write(to: out.appending(path: "\(name).jpg"))
            return 0
          } catch {
            print("\(name): \(error)")
            return 1
          }
        }
      }
      var failures = 0
      for try await failure in group { failures += failure }
      return failures
    }
    print("\(names.count - failures) of \(names.count)")
  }
}
