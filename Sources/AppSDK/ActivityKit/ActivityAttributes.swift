@_exported import Foundation

/// The data of a Live Activity that never changes, and the type of those that do.
///
/// A push that starts an activity names the type in `attributes-type`, without module and surrounding types.
public protocol ActivityAttributes: Decodable, Encodable {
    /// The data that change; a push has them in `content-state`.
    associatedtype ContentState: Decodable, Encodable, Hashable
}

extension ActivityAttributes {
    /// The name of the type in payloads.
    static var typeName: String { String(String(describing: Self.self).prefix { $0 != "<" }) }
}
