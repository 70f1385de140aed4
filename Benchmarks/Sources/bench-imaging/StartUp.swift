import Foundation

/// The cost of each program for a tiny image: the minimum of several runs, since other load only adds to it.
struct StartUp {
  private var runs: [String: [Kind: Run]] = [:]

  init() {
    for kind in Kind.compared {
      guard let input = tiny(kind) else { continue }
      for _ in 0..<7 {
        for contestant in allContestants {
          guard let run = measured(contestant, input, 300) else { continue }
          let least = runs[contestant.name]?[kind]?.cpu ?? .infinity
          if run.cpu < least { runs[contestant.name, default: [:]][kind] = run }
        }
      }
    }
  }

  func run(_ contestant: Contestant, _ kind: Kind) -> Run? { runs[contestant.name]?[kind] }

  func report() {
    print("\nStart-up: an image of one pixel, CPU ms / wall ms / peak MB of the run with least CPU")
    print("  " + column("", 22) + Kind.compared.map { column($0.rawValue, 19) }.joined())
    for contestant in allContestants {
      let cells = Kind.compared.map { kind in
        run(contestant, kind).map { "\(number($0.cpu)) / \(number($0.wall, 0)) / \(number($0.peak))" } ?? "-"
      }
      print("  " + column(contestant.name, 22) + cells.map { column($0, 19) }.joined())
    }
  }
}

/// The size and start-up time of programs that contain Vitrine.
func reportSizes() {
  print("\nSize and start-up of programs with Vitrine and Swift's libraries linked in; the second reads a tiny image:")
  print(
    "  " + column("", 30) + column("MB", 8) + column("stripped", 10) + column("libraries", 11)
      + column("to main: CPU / wall ms / MB", 29) + column("to a JPEG", 19) + column("to an AVIF", 19) + "to a HEIC"
  )
  let programs = [
    ("VitrineImaging alone", folder.appending(path: "start-imaging").path, []),
    ("with every codec", folder.appending(path: "start-codecs").path, []),
    ("the tool vitrine", vitrine, ["--version"]),
  ]
  for (name, path, arguments) in programs {
    let stripped = scratch.appending(path: "stripped").path
    guard output(["strip", "-o", stripped, path]).status == 0 else {
      print("  \(column(name, 30))not built")
      continue
    }
    let libraries = output(["ldd", path]).text.split(separator: "\n").count { $0.contains("=>") }
    func cell(_ arguments: [String]) -> String {
      guard let run = (0..<11).compactMap({ _ in measured([path] + arguments) }).least else { return "-" }
      return "\(number(run.cpu)) / \(number(run.wall, 0)) / \(number(run.peak))"
    }
    let pictures = [Kind.baseline, .avif, .heic].map { kind -> String in
      guard let input = tiny(kind) else { return "-" }
      return cell(arguments.isEmpty ? [input.path] : ["info", input.path])
    }
    print(
      "  " + column(name, 30) + column(megabytes(path), 8) + column(megabytes(stripped), 10)
        + column("\(libraries)", 11)
        + column(cell(arguments), 29) + pictures.map { column($0, 19) }.joined()
    )
  }
}

private func megabytes(_ path: String) -> String {
  let resolved = URL(filePath: path).resolvingSymlinksInPath().path
  let count = try? FileManager.default.attributesOfItem(atPath: resolved)[.size] as? Int
  return count.map { number(Double($0) / 1e6) } ?? "-"
}
