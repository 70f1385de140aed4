/// A shell that completes the tool's command lines, by a script made of the table of commands.
enum Shell: String, CaseIterable {
  case bash, zsh, fish

  /// Returns the script, which asks nothing of the tool when it runs.
  func script(for commands: [Manual]) -> String {
    let head = "vitrine completions \(rawValue)"
    return switch self {
    case .bash: Self.bash(commands, head)
    case .zsh: Self.zsh(commands, head)
    case .fish: Self.fish(commands, head)
    }
  }

  private static func names(_ commands: [Manual]) -> [String] { commands.map(\.name) }

  /// The options that stand in place of a command.
  private static let toolOptions = [Option.help, .version]

  /// Returns a word between single quotes, as bash and zsh read it.
  private static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: #"'\''"#))'" }
}

// MARK: - bash

extension Shell {
  private static func bash(_ commands: [Manual], _ head: String) -> String {
    let first = (names(commands) + toolOptions.map(\.name)).joined(separator: " ")
    let cases = commands.map { command in
      let valued = command.allOptions.compactMap { option in
        option.value.map { "          \(option.name)) options='' kind='\(bash($0.kind, commands))' ;;\n" }
      }
      let inner = valued.isEmpty ? "" : "        case $prev in\n\(valued.joined())        esac\n"
      let options = command.allOptions.map(\.name).joined(separator: " ")
      let kind = command.arguments.map { bash($0, commands) } ?? ""
      return "      \(command.name))\n        options='\(options)' kind='\(kind)'\n\(inner)        ;;\n"
    }
    return #"""
      # Completion of vitrine in bash, printed by: \#(head)
      _vitrine() {
        local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} options='' kind='' word
        # In --size=400, bash takes the = for a word.
        if [[ $cur == = ]]; then
          cur=
        elif [[ $prev == = ]]; then
          prev=${COMP_WORDS[COMP_CWORD - 2]}
        fi
        if ((COMP_CWORD == 1)); then
          kind='\#(first)'
        else
          case ${COMP_WORDS[1]} in
      \#(cases.joined())    esac
        fi
        # After -- nothing is an option.
        for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do [[ $word == -- ]] && options=''; done
        [[ $cur == -* && -n $options ]] && kind=$options
        COMPREPLY=()
        case $kind in
          FILE) compopt -o default ;;
          FOLDER) compopt -o dirnames ;;
          *) mapfile -t COMPREPLY < <(compgen -W "$kind" -- "$cur") ;;
        esac
      }
      complete -F _vitrine vitrine

      """#
  }

  private static func bash(_ kind: ValueKind, _ commands: [Manual]) -> String {
    switch kind {
    case .file: "FILE"
    case .folder: "FOLDER"
    case .words(let words): words.joined(separator: " ")
    case .command: names(commands).joined(separator: " ")
    case .number, .text: ""
    }
  }
}

// MARK: - zsh

extension Shell {
  private static func zsh(_ commands: [Manual], _ head: String) -> String {
    let described = commands.map { "    " + quoted("\(colons($0.name)):\($0.summary.asPhrase)") }
    let cases = commands.map { command in
      var specifications = command.allOptions.map { zsh($0, commands) }
      if let kind = command.arguments { specifications.append("*:\(colons(command.synopsis)):\(zsh(kind, commands))") }
      let lines = specifications.map { " \\\n          " + quoted($0) }
      return "        \(command.name))\n        _arguments -S\(lines.joined())\n        ;;\n"
    }
    let first = toolOptions.map { quoted("(- *)\(zsh($0, commands))") }.joined(separator: " ")
    return #"""
      #compdef vitrine
      # Completion of vitrine in zsh, printed by: \#(head)
      _vitrine() {
        local curcontext=$curcontext state line
        local -a commands
        commands=(
      \#(described.joined(separator: "\n"))
        )
        _arguments -C \#(first) '1:command:->command' '*::argument:->argument' && return
        case $state in
          command) _describe -t commands command commands ;;
          argument)
            case $words[1] in
      \#(cases.joined())      esac
            ;;
        esac
      }
      if [[ $funcstack[1] == _vitrine ]]; then _vitrine "$@"; else compdef _vitrine vitrine; fi

      """#
  }

  private static func zsh(_ option: Option, _ commands: [Manual]) -> String {
    let help = "[\(option.brief.replacing("[", with: #"\["#).replacing("]", with: #"\]"#))]"
    guard let value = option.value else { return option.name + help }
    // A short option takes its value as the next word.
    let mark = option.name.hasPrefix("--") ? "=" : ""
    return "\(option.name)\(mark)\(help):\(colons(value.placeholder)):\(zsh(value.kind, commands))"
  }

  private static func zsh(_ kind: ValueKind, _ commands: [Manual]) -> String {
    switch kind {
    case .file: "_files"
    case .folder: "_files -/"
    case .words(let words): "(\(words.joined(separator: " ")))"
    case .command: "(\(names(commands).joined(separator: " ")))"
    case .number, .text: " "
    }
  }

  private static func colons(_ text: String) -> String { text.replacing(":", with: #"\:"#) }
}

// MARK: - fish

extension Shell {
  private static func fish(_ commands: [Manual], _ head: String) -> String {
    var lines = ["# Completion of vitrine in fish, printed by: \(head)", "complete -c vitrine -f"]
    for option in toolOptions {
      lines.append("complete -c vitrine -n __fish_use_subcommand \(fish(option, commands))")
    }
    for command in commands {
      let summary = fishQuoted(command.summary.asPhrase)
      lines.append("complete -c vitrine -n __fish_use_subcommand -a \(command.name) -d \(summary)")
      let here = "complete -c vitrine -n '__fish_seen_subcommand_from \(command.name)'"
      lines += command.allOptions.map { "\(here) \(fish($0, commands))" }
      if let kind = command.arguments { lines.append("\(here) \(fish(kind, commands))") }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func fish(_ option: Option, _ commands: [Manual]) -> String {
    let name = option.name.hasPrefix("--") ? "-l \(option.name.dropFirst(2))" : "-s \(option.name.dropFirst())"
    let value = option.value.map { " -r \(fish($0.kind, commands))" } ?? ""
    return "\(name)\(value) -d \(fishQuoted(option.brief))"
  }

  private static func fish(_ kind: ValueKind, _ commands: [Manual]) -> String {
    switch kind {
    case .file: "-F"
    case .folder: "-f -a '(__fish_complete_directories)'"
    case .words(let words): "-f -a '\(words.joined(separator: " "))'"
    case .command: "-f -a '\(names(commands).joined(separator: " "))'"
    case .number, .text: "-f"
    }
  }

  private static func fishQuoted(_ text: String) -> String {
    "'\(text.replacing(#"\"#, with: #"\\"#).replacing("'", with: #"\'"#))'"
  }
}

extension Option {
  /// The description in a completion.
  fileprivate var brief: String { String(help.prefix { $0 != ";" }) }
}
