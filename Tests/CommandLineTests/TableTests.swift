import Foundation
import Testing
import VitrineRuntime
import VitrineTestSupport

@testable import VitrineCommandLine

/// What comes from the table of commands: documented calls, manual pages and completions.
struct TableTests {
  private static let manuals = CommandLineTool.manuals

  /// A call of the tool, with the words behind the command.
  private struct Call {
    let command: any Command.Type
    let words: [String]
  }

  private static func calls(in text: String) -> [Call] {
    text.split(separator: "\n").flatMap { line -> [Call] in
      // A command ends at a pipe, at a comment, and where its output goes.
      words(of: String(line)).split { ["|", "#", ">"].contains($0) }.compactMap { words -> Call? in
        let start = words.firstIndex { $0 == "vitrine" || $0.hasSuffix("/vitrine") }
        guard let start, start + 1 < words.endIndex else { return nil }
        let name = ByteString(words[start + 1])
        return (try? CommandLineTool.command(name)).map { Call(command: $0, words: Array(words[(start + 2)...])) }
      }
    }
  }

  /// The words of a line of a shell, where single quotes hold one together.
  private static func words(of line: String) -> [String] {
    line.split(separator: "'", omittingEmptySubsequences: false).enumerated().flatMap { index, part in
      index % 2 == 1 ? [String(part)] : part.split(separator: " ").map(String.init)
    }
  }

  private static func checkValues(_ words: [String], of manual: Manual) {
    for option in manual.options {
      guard let value = option.value, let place = words.firstIndex(of: option.name) else { continue }
      let word = words[place + 1]
      switch value.kind {
      case .words(let known): #expect(known.contains(word), "\(option.name) \(word)")
      case .number(let range): #expect(Int(word).map(range.contains) == true, "\(option.name) \(word)")
      case .file, .folder, .text, .command: break
      }
    }
  }

  @Test
  func examplesAndDocumentsUseOptionsThatThereAre() throws {
    let names = ["README.md"] + ["CommandLine", "Recipes"].map { "Sources/Vitrine/Vitrine.docc/\($0).md" }
    let documents = try names.map { try String(contentsOf: Repository.folder.appending(path: $0), encoding: .utf8) }
    let examples = Self.manuals.flatMap { $0.examples.map(\.name) }

    let calls = (documents + examples).flatMap { Self.calls(in: $0) }

    #expect(calls.count > examples.count + 10)
    for call in calls {
      let manual = call.command.manual
      #expect(throws: Never.self, "\(manual.name) \(call.words)") {
        try Arguments(call.words.map { ByteString($0) }[...], options: manual.allOptions)
      }
      Self.checkValues(call.words, of: manual)
    }
  }

  @Test
  func everyCommandButHelpHasAnExampleInItsHelp() async throws {
    for manual in Self.manuals where manual.name != "help" {
      let output = try await Tool().run(manual.name, "--help").output
      #expect(output.contains("\n\nEXAMPLES\n  "), "\(manual.name)")
    }
  }

  // MARK: - Manual pages

  @Test
  func aManualPageIsThatOfItsCommand() async throws {
    let page = try await Tool().run("man", "thumbnail")
    #expect(page.status == 0)
    #expect(page.output.hasPrefix(#".TH VITRINE\-THUMBNAIL 1 "" "vitrine "#))
    #expect(page.output.contains(".TP\n\\fB\\-\\-size\\fR \\fIWxH\\fR\nthe box in pixels;"))
    #expect(try await Tool().run("man").output.contains(".BR vitrine\\-thumbnail (1),\n"))
    #expect(try await Tool().run("man", "paint").status == 64)
  }

  @Test(.enabled("groff is not installed") { try await Tool().shell("groff --version").status == 0 })
  func manualPagesHaveNoMistakes() async throws {
    for name in [""] + Self.manuals.map(\.name) {
      let outcome = try await Tool().shell("\"$vitrine\" man \(name) | groff -man -ww -z -Tutf8")
      #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(name): \(outcome.errors)")
    }
  }

  // MARK: - Completions

  /// Returns what bash offers for the last of some words; `FILES` or `FOLDERS` where it looks for these itself.
  private func bash(_ words: String...) async throws -> [String] {
    let list = words.map { "'\($0)'" }.joined(separator: " ")
    let script = """
      bash <<'END'
      source <("$vitrine" completions bash)
      compopt() { case $2 in default) echo FILES ;; dirnames) echo FOLDERS ;; esac; }
      COMP_WORDS=(vitrine \(list)) COMP_CWORD=\(words.count)
      _vitrine
      printf '%s\\n' "${COMPREPLY[@]}"
      END
      """
    let outcome = try await Tool().shell(script)
    #expect(outcome.errors.isEmpty, "\(outcome.errors)")
    return outcome.output.split(separator: "\n").map(String.init)
  }

  @Test
  func bashCompletesCommandsOptionsWordsAndFiles() async throws {
    #expect(try await bash("th") == ["thumbnail", "thumbnailer"])
    #expect(try await bash("--v") == ["--version"])
    #expect(try await bash("thumbnail", "--qual") == ["--quality-mode", "--quality"])
    #expect(try await bash("thumbnail", "--mode", "f") == ["fit", "fill"])
    #expect(try await bash("thumbnail", "--mode", "=", "f") == ["fit", "fill"])
    #expect(try await bash("thumbnail", "--mode", "=") == ["fit", "fill", "exact"])
    #expect(try await bash("thumbnail", "--size", "") == [])
    #expect(try await bash("thumbnail", "a") == ["FILES"])
    #expect(try await bash("thumbnail", "--", "--mo") == ["FILES"])
    #expect(try await bash("fetch", "--cache-dir", "") == ["FOLDERS"])
    #expect(try await bash("cache", "t") == ["trim"])
    #expect(try await bash("completions", "") == ["bash", "zsh", "fish"])
    #expect(try await bash("help", "si").first == "sign")
  }

  @Test(.enabled("zsh is not installed") { try await Tool().shell("zsh --version").status == 0 })
  func zshReadsItsScript() async throws {
    let script =
      #""$vitrine" completions zsh > _vitrine && zsh -n _vitrine && "#
      + #"zsh -fc 'autoload -U compinit && compinit -u -D && source ./_vitrine && print $_comps[vitrine]'"#
    let outcome = try await Tool().shell(script)
    #expect(outcome.output == "_vitrine\n" && outcome.errors.isEmpty, "\(outcome.errors)")
  }

  @Test(.enabled("fish is not installed") { try await Tool().shell("fish --version").status == 0 })
  func fishCompletesCommandsOptionsAndWords() async throws {
    func fish(_ line: String) async throws -> [String] {
      let script = "HOME=$PWD fish --no-config -c '\"$vitrine\" completions fish | source; complete -C \"\(line)\"'"
      let outcome = try await Tool().shell(script)
      #expect(outcome.errors.isEmpty, "\(outcome.errors)")
      return outcome.output.split(separator: "\n").compactMap { $0.split(separator: "\t").first.map(String.init) }
    }
    #expect(try await fish("vitrine th") == ["thumbnail", "thumbnailer"])
    #expect(Set(try await fish("vitrine thumbnail --qual")) == ["--quality", "--quality-mode"])
    #expect(Set(try await fish("vitrine thumbnail --mode f")) == ["fit", "fill"])
    #expect(try await fish("vitrine cache t") == ["trim"])
  }
}
