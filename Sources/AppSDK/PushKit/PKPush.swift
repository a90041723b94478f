import Foundation

/// A type of PushKit's pushes.
public struct PKPushType: RawRepresentable, Hashable, Sendable {
    /// The type's name.
    public let rawValue: String

    /// Names a type; only ``voIP`` has pushes here.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// An incoming call.
    public static let voIP = PKPushType(rawValue: "PKPushTypeVoIP")
    /// An update of a complication, which Linux does not have.
    public static let complication = PKPushType(rawValue: "PKPushTypeComplication")
    /// Changes for a file provider extension, which Linux does not have.
    public static let fileProvider = PKPushType(rawValue: "PKPushTypeFileProvider")
}

/// The token for pushes of one type.
open class PKPushCredentials: NSObject, @unchecked Sendable {
    /// The type of pushes.
    public let type: PKPushType
    /// The token for the provider.
    public let token: Data

    // Sendable is unchecked, since the class is open; it has constants only.
    init(type: PKPushType, token: Data) {
        self.type = type
        self.token = token
    }
}

/// The content of one push.
open class PKPushPayload: NSObject {
    /// The type of the push.
    public let type: PKPushType
    /// The payload's members.
    public let dictionaryPayload: [AnyHashable: Any]

    init(type: PKPushType, dictionaryPayload: [AnyHashable: Any]) {
        self.type = type
        self.dictionaryPayload = dictionaryPayload
    }
}
