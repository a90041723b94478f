import PushCore

/// A registration of an app on a device that was made as browsers make theirs.
package struct WebRegistration: Hashable, Sendable {
    /// The product, such as `org.chromium.linux`: the `app` of the registration, by which the client knows its
    /// messages.
    package var category: String
    /// The client's own name of the subscription, from `X-subtype`.
    package var subtype: String
    /// The `sender` of the registration: a project's number, or an application server's public key.
    package var sender: String
    /// The key to which messages are encrypted; `nil` until the client has sent it, and where only senders know it.
    package var key: RecipientPublicKey?
    /// The id of the app's installation that sent the keys.
    package var installation: String?

    /// Takes the parts; nothing is checked.
    package init(
        category: String, subtype: String, sender: String, key: RecipientPublicKey? = nil, installation: String? = nil
    ) {
        self.category = category
        self.subtype = subtype
        self.sender = sender
        self.key = key
        self.installation = installation
    }

    /// The longest text of a registration that is kept, in bytes.
    package static let longestText = 1024

    /// The app or page that a subtype names: `wp:NAME#ID`, where NAME is a bundle id or a page's origin. `nil` for
    /// none.
    ///
    /// Of an origin the host is the name: a page of `https://shop.example/` belongs to the topic `shop.example`.
    package static func topic(ofSubtype subtype: String) -> Topic? {
        var name = subtype[...]
        if name.hasPrefix("wp:") { name = name.dropFirst(3) }
        if let mark = name.firstIndex(of: "#") { name = name[..<mark] }
        if let scheme = name.firstRange(of: "://") {
            name = name[scheme.upperBound...].prefix { $0 != "/" && $0 != ":" }
        }
        let text = String(name)
        return Topic.hasShape(text) ? Topic(rawValue: text) : nil
    }
}

/// The topic and environment that identify a registration of a device.
package struct WebRegistrationKey: Hashable, Sendable {
    /// The app's topic.
    package var topic: Topic
    /// The environment of the registration.
    package var environment: PushEnvironment

    /// Names a registration.
    package init(topic: Topic, environment: PushEnvironment) {
        self.topic = topic
        self.environment = environment
    }
}
