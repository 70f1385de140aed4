// downloader FOLDER URL...: saves images as their servers sent them, four at a time, and says what failed.
import Foundation
import Vitrine
import VitrineImaging

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
    do {
      let data = try await pipeline.data(for: url)
      let info = try DecoderRegistry.standard.info(of: data)  // an error page is no image
      let name = URL(string: url)?.deletingPathExtension().lastPathComponent ?? "image"
      let file = folder.appending(path: "\(name).\(info.format.fileExtension)")
      try data.write(to: file)
      return "\(file.path()): \(info.width)x\(info.height)"
    } catch {
      return "\(error)"
    }
  }
}
