/// The name of an installed app: its bundle id, `com.example.todo`, as its manifest gives it.
///
/// A provider writes the same text into `apns-topic`. On the wire, in manifests and in the agent's store it is that
/// text.
///
///     let app: BundleID = "com.example.todo"
///     print("\(app) is installed")
public struct BundleID: RawRepresentable, Hashable, Comparable, Sendable {
    /// The bundle id as text, in the case in which it was written.
    public let rawValue: String

    /// Takes a text as it is; whether an app of that name is installed is not checked.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Orders by text.
    public static func < (left: BundleID, right: BundleID) -> Bool { left.rawValue < right.rawValue }
}

extension BundleID: CustomStringConvertible, ExpressibleByStringLiteral {
    public var description: String { rawValue }

    /// Takes a literal as it is, as `init(rawValue:)` does.
    public init(stringLiteral text: String) { self.init(rawValue: text) }
}

extension BundleID: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
