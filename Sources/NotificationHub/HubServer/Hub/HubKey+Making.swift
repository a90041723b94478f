import Foundation
import PushCore

extension HubKey {
    /// A new key with two texts of 32 random bytes each.
    package static func make(name: String, rights: HubRights, at now: Timestamp) -> HubKey {
        HubKey(name: name, rights: rights, primary: makeSecret(), secondary: makeSecret(), createdAt: now)
    }

    /// 32 random bytes in base 64.
    package static func makeSecret() -> String {
        var generator = SystemRandomNumberGenerator()
        return Data((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }).base64EncodedString()
    }

    /// The two keys that each hub begins with.
    package static func first(at now: Timestamp) -> [HubKey] {
        [
            make(name: fullName, rights: [.listen, .send, .manage], at: now),
            make(name: listenName, rights: .listen, at: now),
        ]
    }
}

extension HubAPIKey {
    /// A new key's text.
    package static func makeText() -> String { mark + HubKey.makeSecret().filter { $0.isLetter || $0.isNumber } }
}
