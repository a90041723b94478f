import ArgumentParser

/// Checks the names of subcommands in a command line, before its options are parsed: an argument in the place of a
/// subcommand must name one, and `help` accepts only existing ones.
package enum SubcommandPath {
    /// Descends through the subcommands as far as the arguments name some.
    ///
    /// - Parameter words: The command line without the program's name.
    /// - Throws: A failure of usage, which lists the existing subcommands.
    package static func check(_ words: [String], of root: any ParsableCommand.Type) throws {
        var words = words[...]
        let isHelp = words.first == "help"
        if isHelp { words.removeFirst() }
        var command: any ParsableCommand.Type = root
        var path = root._commandName
        while let word = words.popFirst(), !word.hasPrefix("-") {
            let known = command.configuration.subcommands.filter { $0.configuration.shouldDisplay }
            let all = command.configuration.subcommands
            if all.isEmpty, !isHelp { return }
            guard let next = all.first(where: { $0._commandName == word || $0.configuration.aliases.contains(word) })
            else { throw unknown(word, after: path, known: known.map { $0._commandName }) }
            command = next
            path += " " + word
        }
    }

    /// The sentence on the first option of a command line that its command does not have; `nil` where it has all. The
    /// parser reports other faults of a command line first, such as an option that is missing because it was misspelt.
    ///
    /// - Parameter words: The command line without the program's name.
    package static func unknownOption(_ words: [String], of root: any ParsableCommand.Type) -> String? {
        var words = words[...]
        var command: any ParsableCommand.Type = root
        while let word = words.first,
            let next = command.configuration.subcommands.first(where: {
                $0._commandName == word || $0.configuration.aliases.contains(word)
            })
        {
            command = next
            words.removeFirst()
        }
        command = command.configuration.defaultSubcommand ?? command
        let help = root.helpMessage(for: command, includeHidden: true, columns: 1000)
        let known = Set(help.matches(of: /--[a-z][a-z0-9-]*/).map { String($0.0) })
        for word in words.prefix(while: { $0 != "--" }) where word.hasPrefix("--") {
            let name = String(word.prefix { $0 != "=" })
            guard !known.contains(name) else { continue }
            let meant = NearestWord.to(String(name.dropFirst(2)), among: known.map { String($0.dropFirst(2)) })
            return "Unknown option '\(name)'" + (meant.map { ". Did you mean '--\($0)'?" } ?? "")
        }
        return nil
    }

    private static func unknown(_ word: String, after path: String, known: [String]) -> CommandError {
        if known.isEmpty { return CommandError(.usage, "`\(path)` has no subcommands, and so no \"\(word)\"") }
        let meant = NearestWord.to(word, among: known).map { "; did you mean `\(path) \($0)`?" } ?? ""
        return CommandError(
            .usage,
            "there is no command `\(path) \(word)`\(meant)\n`\(path)` has: \(known.joined(separator: ", "))")
    }
}
