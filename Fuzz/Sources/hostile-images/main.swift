// hostile-images FOLDER: writes the bombs of VitrineTesting into it, and on standard output for each its name and the
// limit that is to refuse it, or "-".
import Foundation
import VitrineTesting

guard CommandLine.arguments.count == 2 else { exit(64) }
let folder = URL(filePath: CommandLine.arguments[1])
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
for image in HostileImage.all + HostileImage.heavy {
  try image.data.write(to: folder.appending(path: image.name))
  print(image.name, image.limit.map(String.init(describing:)) ?? "-", image.data.count)
}
