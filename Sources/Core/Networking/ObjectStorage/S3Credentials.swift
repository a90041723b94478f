/// An access key of an S3-compatible object store.
package struct S3Credentials: Hashable, Sendable, CustomStringConvertible {
    /// The id of the access key, which requests name.
    package var id: String
    /// The secret that requests are signed with.
    package var secret: String
    /// The token of temporary credentials.
    package var token: String?

    /// Text that is not a file of credentials.
    package struct Malformed: Error, CustomStringConvertible {
        /// The reason, and what would be right.
        package let description = """
            it has no lines aws_access_key_id = … and aws_secret_access_key = …, alone or under [default]
            """
    }

    /// Creates an instance from its properties.
    package init(id: String, secret: String, token: String? = nil) {
        self.id = id
        self.secret = secret
        self.token = token
    }

    /// Parses the file `~/.aws/credentials` of AWS's programs: the profile `default`, or lines without a profile.
    ///
    /// - Throws: ``Malformed``.
    package init(parsing text: String) throws(Malformed) {
        var values: [String: String] = [:]
        var isDefault = true
        for line in text.split(whereSeparator: \.isNewline).map(Self.trimmed) {
            if line.hasPrefix("[") {
                isDefault = line == "[default]"
            } else if isDefault, !line.hasPrefix("#"), let sign = line.firstIndex(of: "=") {
                values[Self.trimmed(line[..<sign]).lowercased()] = Self.trimmed(line[line.index(after: sign)...])
            }
        }
        let token = values["aws_session_token"] ?? ""
        guard let id = values["aws_access_key_id"], let secret = values["aws_secret_access_key"], !id.isEmpty,
            !secret.isEmpty, (id + token).utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw Malformed() }
        self.init(id: id, secret: secret, token: token.isEmpty ? nil : token)
    }

    /// The id alone: secrets belong in no log.
    package var description: String { id }

    private static func trimmed(_ text: Substring) -> String {
        let start = text.drop { $0.isWhitespace }
        return String(start.reversed().drop { $0.isWhitespace }.reversed())
    }
}
