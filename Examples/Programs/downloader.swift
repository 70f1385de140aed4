// downloader FOLDER URL...: saves images as their servers sent them, four at a time, and says what failed.
import Foundation
import Vitrine

@main
enum Downloader {
  static func main() async {
    let urls = CommandLine.arguments.dropFirst(2)
    guard let first = CommandLine.arguments.dropFirst().first, !urls.isEmpty else {
      return print("usage: downloader FOLDER URL...")
    }
    let folder = URL(filePath: first)
    let pipeline = ImagePipeline { $0.connectionLimitPerHost = 4 }
    await withTaskGroup { group in
      for url in urls {
        group.addTask { print(await save(url, to: folder, pipeline)) }
      }
    }
  }

  static func save(_ url: String, to folder: URL, _ pipeline: ImagePipeline) async -> String {
    var request = ImageRequest(url: url)
    request.keepsEncodedData = true
    do {
      let response = try await pipeline.imageTask(for: request).response
      let name = URL(string: url)?.deletingPathExtension().lastPathComponent ?? "image"
      let file = folder.appending(path: "\(name).\(response.info.format.fileExtension)")
      try response.encoded?.write(to: file)
      return "\(file.path()): \(response.info.width)x\(response.info.height) from \(response.origin)"
    } catch {
      return "\(error)"
    }
  }
}
