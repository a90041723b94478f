import PushModel

/// An app on a device, as a hub keeps it.
package struct Installation: Hashable, Sendable {
    /// Its id: chosen by the app, compared without case.
    package var id: String
    /// The push service that reaches it.
    package var platform: HubPlatform
    /// What the push service knows it by; `nil` where it is not known yet.
    package var channel: PushChannel?
    /// Whose it is; compared without case.
    package var userID: String?
    /// What it is addressed by, each once.
    package var tags: [TagName] = []
    /// Its templates by name, in their order.
    package var templates: [InstallationTemplate] = []
    /// Properties that it adds to every template's, and by which it replaces them.
    package var pushVariables: [String: String] = [:]
    /// What Windows calls secondary tiles, kept as it came; of a registration, the name of its tile.
    package var secondaryTiles: JSONTree?
    /// Until when it counts; `nil` for ever.
    package var expiresAt: Timestamp?
    /// Whether it was written as a registration: its channel may have others beside it.
    package var isRegistration = false
    /// Its language, or language and region: `de-AT`.
    package var locale: String?
    /// Its time zone by name: `Europe/Vienna`.
    package var timeZone: String?
    /// Its country: `AT`.
    package var country: String?
    /// The version of its app.
    package var appVersion: String?
    /// The environment of the push service that its channel is of; `nil` where it does not say.
    package var environment: PushEnvironment?

    /// Makes an installation without tags and templates.
    package init(id: String, platform: HubPlatform, channel: PushChannel?) {
        self.id = id
        self.platform = platform
        self.channel = channel
    }

    /// What no two installations share: the channel, and of registrations the id before it.
    package var channelKey: String? {
        channelHandle.map { isRegistration ? "\(foldedID) \($0)" : $0 }
    }

    /// What tells the channel from others, in one spelling.
    package var channelHandle: String? { channel.map { platform.spelling(ofChannel: $0.key) } }

    /// Whether native sends are for it: a registration with a template has that alone.
    package var takesNative: Bool { !isRegistration || templates.isEmpty }

    /// The id by which installations are told apart.
    package var foldedID: String { id.lowercased() }

    /// Refuses one whose time is over: it would count for nothing, and take its channel from another.
    package func checkTime(at now: Timestamp) throws(InstallationFault) {
        guard let expiresAt, expiresAt <= now else { return }
        throw InstallationFault(
            "/expirationTime", "\(WireTime.write(expiresAt)) is over; name a later instant, or none")
    }
}

/// What a push service knows an installation by.
package enum PushChannel: Hashable, Sendable {
    /// A token of the push service.
    case handle(String)
    /// A subscription of Web Push (RFC 8030).
    case browser(endpoint: String, p256dh: String, auth: String)

    /// What tells one channel of a platform from another.
    package var key: String {
        switch self {
        case .handle(let handle): handle
        case .browser(let endpoint, _, _): endpoint
        }
    }
}

/// A template of an installation: what a send's properties become on it.
package struct InstallationTemplate: Hashable, Sendable {
    /// Its name, which counts as a tag of the template.
    package var name: String
    /// The text of the payload with expressions in it.
    package var body: String
    /// The payload's texts in other languages: names are languages, as ``LanguageTag/folded(_:)`` spells them.
    package var locales: [JSONTree.Member] = []
    /// Header fields of the push service, with expressions in their values.
    package var headers: [JSONTree.Member] = []
    /// When what it makes expires: an instant, `0`, or an expression; `nil` for the push service's own.
    package var expiry: String?
    /// Tags beside the installation's.
    package var tags: [TagName] = []

    /// Makes a template of a name and a body.
    package init(name: String, body: String) {
        self.name = name
        self.body = body
    }

    /// The text of the most exact language that holds for another (`zh-Hant-TW`, `zh-Hant`, `zh`), else the one without a language.
    package func body(locale: String?) -> String {
        guard !locales.isEmpty, let locale else { return body }
        let found = LanguageTag.lookup(locale).lazy.compactMap { name in locales.first { $0.name == name } }.first
        return found?.value.text ?? body
    }
}

/// What was wrong with a document of an installation.
package struct InstallationFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// Where, as a path: `/tags/2`.
    package var path: String
    /// What was wrong, and what would be right.
    package var message: String

    /// Brings the parts together.
    package init(_ path: String, _ message: String) {
        self.path = path
        self.message = message
    }

    package var description: String { "\(path): \(message)" }
}
