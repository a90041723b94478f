/// A fault in a manifest.
package struct AppManifestError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The key that is at fault; empty when it is the whole file.
    package var key: String
    /// The fault and its remedy, for people.
    package var problem: String

    /// A fault of one key.
    package init(key: String, problem: String) {
        self.key = key
        self.problem = problem
    }

    /// A decoder's error in the terms of a manifest.
    init(_ error: DecodingError) {
        func name(_ context: DecodingError.Context) -> String {
            context.codingPath.map(\.stringValue).joined(separator: ".")
        }
        switch error {
        case .keyNotFound(let key, _): self.init(key: key.stringValue, problem: "it is missing")
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            self.init(key: name(context), problem: "it has another type than it should")
        case .dataCorrupted(let context) where context.codingPath.isEmpty:
            self.init(key: "", problem: "the file is not a JSON object")
        case .dataCorrupted(let context) where name(context) == "authorization":
            self.init(key: "authorization", problem: "it must be one of: ask, granted, denied")
        case .dataCorrupted(let context) where name(context) == "lifecycle":
            self.init(key: "lifecycle", problem: "it must be one of: declared, always, focus")
        case .dataCorrupted(let context) where name(context) == "encryptedPayloads":
            self.init(key: "encryptedPayloads", problem: "it must be one of: agent, extension")
        case .dataCorrupted(let context):
            self.init(key: name(context), problem: "its value is not allowed")
        @unknown default: self.init(key: "", problem: "it cannot be read")
        }
    }

    package var description: String { key.isEmpty ? "manifest: \(problem)" : "manifest: `\(key)`: \(problem)" }
}
