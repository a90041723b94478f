import Yams

/// Brings flags, environment and file together: flags over environment over file over the table's default.
///
/// All faults are found before one is reported. An unknown environment variable is named in a warning and ignored,
/// since `ALDABA_` also begins names that apps use. An unknown key in the file is a fault.
package struct ConfigurationReader: Sendable {
    /// The program whose keys may be given as flags.
    package var program: ConfiguredProgram
    /// The arguments of the command line that are not the command's own.
    package var arguments: [String]
    /// The process's environment, by variable.
    package var environment: [String: String]
    /// The file's path, for messages, and its text.
    package var file: (path: String, text: String)?

    /// Brings the sources of a configuration together; ``read()`` reads them.
    ///
    /// - Parameters:
    ///   - program: The program whose keys may be given as flags.
    ///   - arguments: Arguments of the command line that are not the command's own: `--name value`, `--name=value`, and
    ///   for flags `--name` and `--no-name`.
    ///   - environment: The process's environment.
    ///   - file: The configuration file, where there is one.
    package init(
        program: ConfiguredProgram, arguments: [String], environment: [String: String],
        file: (path: String, text: String)? = nil
    ) {
        self.program = program
        self.arguments = arguments
        self.environment = environment
        self.file = file
    }

    /// Reads everything.
    ///
    /// - Throws: ``ConfigurationFaults`` with all that is wrong.
    package func read() throws(ConfigurationFaults) -> ConfigurationValues {
        var result = Reading()
        readFile(into: &result)
        readEnvironment(into: &result)
        readArguments(into: &result)
        guard result.faults.isEmpty else { throw ConfigurationFaults(faults: result.faults) }
        return result.values
    }

    private struct Reading {
        var values = ConfigurationValues()
        var faults: [ConfigurationFault] = []

        mutating func take(_ text: String, for key: ConfigurationKey, from origin: ConfigurationOrigin) {
            let row = key.row
            if let value = row.type.normalized(text) {
                values.texts[key] = .init(text: value, origin: origin)
            } else {
                let shown = row.secret ? "has a value that it cannot take" : "is \"\(text)\""
                faults.append(
                    ConfigurationFault(
                        origin: origin, what: "\(key.rawValue) \(shown)", right: row.type.right(insteadOf: text)))
            }
        }
    }
}

extension ConfigurationReader {
    private func readEnvironment(into result: inout Reading) {
        for key in ConfigurationKey.allCases {
            guard let text = environment[key.environmentName] else { continue }
            result.take(text, for: key, from: .environment(key.environmentName))
        }
        // A process that `up` started has them from it, which has named them.
        guard environment["ALDABA_SUPERVISED"] == nil else { return }
        let keys = ConfigurationKey.allCases.map(\.environmentName)
        let known = Set(keys).union(Self.otherVariables)
        result.values.unknownVariables = environment.keys.filter { $0.hasPrefix("ALDABA_") && !known.contains($0) }
            .sorted().map { name in
                let meant = NearestWord.to(name, among: keys).map { "; did you mean \($0)?" }
                return "\(name) is no setting\(meant ?? ", and nothing reads it")"
            }
    }

    /// Variables of Aldaba that are no settings: those set for apps and their extensions, and those of tests.
    private static let otherVariables: Set<String> = [
        "ALDABA_APP_ID", "ALDABA_APP_GROUPS", "ALDABA_ROLE", "ALDABA_PRINCIPAL_CLASS", "ALDABA_FLUTTER_SOCKET",
        "ALDABA_SUPERVISED", "ALDABA_FAULT_FILE", "ALDABA_BIN", "ALDABA_BUILD",
    ]

    private func readFile(into result: inout Reading) {
        guard let file else { return }
        func fault(_ line: Int, what: String, right: String) {
            result.faults.append(
                ConfigurationFault(origin: .file(file.path, line: line), what: what, right: right))
        }
        let root: Node?
        do { root = try Yams.compose(yaml: file.text) } catch {
            let line = (error as? YamlError).flatMap(Self.line) ?? 1
            return fault(line, what: "the file is not YAML", right: "it holds one `key: value` a line")
        }
        guard let root else { return }
        guard let mapping = root.mapping else {
            return fault(1, what: "the file is not a list of keys", right: "it holds one `key: value` a line")
        }
        for (name, value) in mapping {
            let line = name.mark?.line ?? 1
            guard let text = name.string, let key = ConfigurationKey(rawValue: text) else {
                fault(
                    line, what: "there is no key \"\(name.string ?? "")\"",
                    right: Self.suggestion(for: name.string ?? ""))
                continue
            }
            guard let scalar = value.scalar else {
                fault(line, what: "\(key.rawValue) is a list or a mapping", right: "it takes \(key.row.type.words)")
                continue
            }
            result.take(scalar.string, for: key, from: .file(file.path, line: line))
        }
    }

    private static func line(_ error: YamlError) -> Int? {
        switch error {
        case .scanner(_, _, let mark, _), .parser(_, _, let mark, _), .composer(_, _, let mark, _): mark.line
        default: nil
        }
    }

    private func readArguments(into result: inout Reading) {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("--"), word.count > 2 else {
                result.faults.append(
                    ConfigurationFault(
                        origin: .word(word), what: "this word has no place here",
                        right: "flags are written --name value"))
                continue
            }
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            readFlag(String(parts[0]), attached: parts.count > 1 ? String(parts[1]) : nil, rest: &rest, into: &result)
        }
    }

    private func readFlag(
        _ name: String, attached: String?, rest: inout ArraySlice<String>, into result: inout Reading
    ) {
        if let key = key(named: name) {
            let isFlag = key.row.type == .flag
            let next = isFlag || attached != nil ? nil : rest.popFirst()
            if let text = attached ?? next ?? (isFlag ? "true" : nil) {
                result.take(text, for: key, from: .flag(name))
            } else {
                result.faults.append(
                    ConfigurationFault(
                        origin: .flag(name), what: "a value is missing", right: "it takes \(key.row.type.words)"))
            }
        } else if name.hasPrefix("no-"), attached == nil, let key = key(named: String(name.dropFirst(3))),
            key.row.type == .flag
        {
            result.take("false", for: key, from: .flag(name))
        } else {
            // The next argument may be the value of the unknown flag, and a secret: it is not reported as an argument
            // of its own.
            if attached == nil, rest.first?.hasPrefix("--") == false { rest = rest.dropFirst() }
            result.faults.append(
                ConfigurationFault(
                    origin: .flag(name), what: "\(program.rawValue) has no such flag",
                    right: Self.suggestion(for: name, where: program.takes)))
        }
    }

    private func key(named name: String) -> ConfigurationKey? {
        ConfigurationKey(rawValue: name).flatMap { program.takes($0) ? $0 : nil }
    }

    /// The key whose name is nearest to a misspelt one; else where the list of keys is.
    static func suggestion(
        for name: String, where isTaken: (ConfigurationKey) -> Bool = { _ in true }
    ) -> String {
        if let near = NearestWord.to(name, among: ConfigurationKey.allCases.filter(isTaken).map(\.rawValue)) {
            return "did you mean \(near)?"
        }
        return "all keys are listed by `aldaba serve --help` and `aldaba agent run --help`"
    }
}
