import AldabaConfiguration
import Foundation

/// `aldaba send --curl`.
extension SendCommand {
    /// A command for POSIX shells that sends a request by curl. It contains no secret: the provider token is made when it runs.
    func curlLine(_ push: PreparedPush) throws -> String {
        let (host, port) = try address()
        var parts = ["curl", "--http2", "--silent", "--show-error", "--include"]
        if let authority = ca ?? (apple.environment == nil ? location.authority : AppleOptions.namedAuthority) {
            parts += ["--cacert", Self.quoted(authority)]
        }
        if let p12 = apple.p12 {
            parts += ["--cert-type", "P12", "--cert", Self.certificate(p12)]
            if let file = apple.passphraseFile { parts += ["--pass", "\"$(cat \(Self.quoted(file)))\""] }
        } else if let certificate = apple.certificate {
            parts += ["--cert", Self.certificate(certificate)]
        } else {
            parts += ["--header", "\"authorization: bearer $(\(tokenCommand))\""]
        }
        for (name, value) in push.fields { parts += ["--header", Self.quoted("\(name): \(value)")] }
        parts += ["--data-raw", Self.quoted(String(decoding: push.body, as: UTF8.self))]
        return (parts + [Self.quoted("https://\(ServerAddresses.authority(host, port))\(push.path)")])
            .joined(separator: " ")
    }

    /// The command that prints a provider token with the options' key.
    private var tokenCommand: String {
        let options = [
            ("--key", signing.key), ("--key-id", signing.keyID), ("--team", signing.team), ("--data", location.data),
        ]
        return options.reduce("aldaba key token") { text, option in
            option.1.map { "\(text) \(option.0) \(Self.quoted($0))" } ?? text
        }
    }

    /// The argument of curl's `--cert`, in which a passphrase may follow a colon.
    private static func certificate(_ path: String) -> String {
        quoted(path.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: ":", with: "\\:"))
    }

    /// An argument in single quotes, for a POSIX shell (IEEE 1003.1, section 2.2.2).
    private static func quoted(_ text: String) -> String {
        "'" + text.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }
}
