import PushCore

/// Removes from a tree what the audit log must not contain: secrets, and the contents of notifications.
///
/// An entry can never be changed, so that a secret or a person's notification could not be deleted later.
package enum AuditRedaction {
    /// The text in place of what was removed.
    package static let mark = "(removed)"
    /// The most bytes of a tree; of a larger one only the size is kept.
    package static let longest = 16_384

    /// Parts of the names of secrets, in lower case and without `-` and `_`.
    private static let parts = [
        "secret", "password", "passphrase", "passwd", "token", "authorization", "cookie", "credential", "privatekey",
        "apikey", "accesskey", "serverkey", "backendkey", "connectionstring", "signature", "recoverycode",
    ]
    /// Whole names of secrets and of contents of notifications.
    private static let names: Set = [
        "key", "keys", "bearer", "sas", "hash", "salt", "pem", "p8", "otp", "full", "listen", "primary", "secondary",
        "payload", "content", "body", "title", "subtitle", "data", "notification", "message", "properties", "template",
        "templates",
    ]
    private static let addresses: Set = ["url", "uri", "endpoint", "webhook"]
    /// The parts by which the text of a secret is recognized, whatever its name is.
    private static let values = ["-----BEGIN", "SharedAccess", "Bearer ", "bearer "]

    /// The tree without secrets, as JSON text; `nil` for `null`.
    package static func text(_ tree: JSONValue?) -> String? {
        guard let tree, tree != .null else { return nil }
        let bytes = cleaned(tree).bytes
        guard bytes.count > longest else { return String(decoding: bytes, as: UTF8.self) }
        return JSONValue.object([.init("bytes", .number(String(bytes.count)))]).json
    }

    /// The tree without secrets.
    package static func cleaned(_ tree: JSONValue) -> JSONValue {
        switch tree {
        case .object(let members): .object(members.map(cleaned))
        case .array(let items): .array(items.map(cleaned))
        case .string(let text): values.contains(where: text.contains) ? .string(mark) : tree
        case .null, .boolean, .number: tree
        }
    }

    private static func cleaned(_ member: JSONValue.Member) -> JSONValue.Member {
        let name = member.name.lowercased().filter { $0 != "-" && $0 != "_" }
        switch member.value {
        // A number of such a name is a count: `tokens: 3`.
        case .null, .boolean, .number: return member
        case .string(let text) where addresses.contains(name): return .init(member.name, .string(address(text)))
        case .string, .array, .object:
            let isSecret = names.contains(name) || parts.contains(where: name.contains)
            return .init(member.name, isSecret ? .string(mark) : cleaned(member.value))
        }
    }

    /// An address without its query and without what stands before its host, which can be secrets.
    private static func address(_ text: String) -> String {
        let plain = text.prefix { $0 != "?" && $0 != "#" }
        guard let scheme = plain.firstRange(of: "://") else { return String(plain) }
        let rest = plain[scheme.upperBound...]
        let end = rest.firstIndex(of: "/") ?? rest.endIndex
        guard let at = rest[..<end].lastIndex(of: "@") else { return String(plain) }
        return String(plain[..<scheme.upperBound] + rest[rest.index(after: at)...])
    }
}
