import PushCore

extension ConfigurationValues {
    /// The key that a new device presents: as it was given, or read from its file; `nil` when there is neither.
    ///
    /// - Throws: ``CommandError`` when both are given, or when the file holds no key; ``PrivateFile/Failure``, also
    ///   for a file that another user owns.
    package func enrolmentKey() throws -> Secret<String>? {
        let given = text(.enrolmentKey)
        guard text(.enrolmentKeyFile) != nil else { return given.map { Secret($0) } }
        guard given == nil else {
            throw CommandError(
                .invalidInput,
                "\(origin(.enrolmentKeyFile)) and \(origin(.enrolmentKey)) both give the enrolment key; give one of them"
            )
        }
        return try line(ofFile: .enrolmentKeyFile)
    }

    /// The secret in the one line of a file that a key names; `nil` where the key has no value.
    ///
    /// - Throws: as ``enrolmentKey()`` does.
    package func line(ofFile file: ConfigurationKey) throws -> Secret<String>? {
        guard let path = text(file) else { return nil }
        let place = "\(origin(file)): \(path)"
        guard let text = try PrivateFile.secret(path, limit: 4096) else {
            throw CommandError(.invalidInput, "\(place): there is no such file; it holds the key in one line")
        }
        var key = text.wrappedValue[...]
        while key.last?.isNewline ?? false { key.removeLast() }
        guard !key.isEmpty, key.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw CommandError(.invalidInput, "\(place): it holds the key in one line, and nothing else")
        }
        return Secret(String(key))
    }

    /// The warnings about settings that are allowed and unwise, each in a sentence.
    package var warnings: [String] {
        guard case .flag = origin(.enrolmentKey) else { return unknownVariables }
        return unknownVariables + [
            "--enrolment-key shows the key to every user of this machine, in the list of processes; give "
                + "--enrolment-key-file FILE or \(ConfigurationKey.enrolmentKey.environmentName)"
        ]
    }
}
