import Foundation

/// The id of an app's instance with its registration token.
public final class InstanceIDResult: NSObject, NSCopying, Sendable {
    /// The id: eleven characters of base64url. It is another one when the token is.
    public let instanceID: String
    /// The registration token.
    public let token: String

    /// The result for a token.
    init(token: String) {
        self.token = token
        instanceID = Self.identifier(of: token)
        super.init()
    }

    /// The same one, which does not change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Sixty bits that follow from the token (by FNV-1a) and do not give it away, after the four with which all ids
    /// begin.
    private static func identifier(of token: String) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in token.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = hash & (.max >> 4) | 7 << 60
        let bytes = withUnsafeBytes(of: hash.bigEndian) { Data($0) }
        return bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
