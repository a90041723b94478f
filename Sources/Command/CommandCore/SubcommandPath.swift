import ArgumentParser

/// Checks the names of commands in front of a command line, before its options are parsed: a word where a subcommand
/// belongs must be one, and `help` explains those only that there are.
package enum SubcommandPath {
    /// Walks down the commands as far as the words name some.
    ///
    /// - Parameter words: The command line without the program's name.
    /// - Throws: a failure of usage, which lists the subcommands that there are.
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

    private static func unknown(_ word: String, after path: String, known: [String]) -> CommandFailure {
        if known.isEmpty { return CommandFailure(.usage, "`\(path)` has no subcommands, and so no \"\(word)\"") }
        let meant = NearestWord.to(word, among: known).map { "; did you mean `\(path) \($0)`?" } ?? ""
        return CommandFailure(
            .usage,
            "there is no command `\(path) \(word)`\(meant)\n`\(path)` has: \(known.joined(separator: ", "))")
    }
}
