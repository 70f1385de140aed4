// hostile-images FOLDER: writes the bombs of VitrineTesting and more into it, and on standard output for each its name,
// the limit that must refuse it ("-" if it may be decoded, "any" if either is right), and its size.
import Foundation
import VitrineTesting

guard CommandLine.arguments.count == 2 else { exit(64) }
let folder = URL(filePath: CommandLine.arguments[1])
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
for image in HostileImage.all + HostileImage.external {
  try image.data.write(to: folder.appending(path: image.name))
  print(image.name, image.limit.map(String.init(describing:)) ?? "-", image.data.count)
}
for (name, data) in Families.all {
  try data.write(to: folder.appending(path: name))
  print(name, "any", data.count)
}
