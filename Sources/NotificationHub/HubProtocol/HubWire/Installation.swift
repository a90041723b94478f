import PushCore

/// An app on a device, as a hub keeps it.
package struct Installation: Hashable, Sendable {
    /// The installation's id: chosen by the app, compared without case.
    package var id: String
    /// The push service that reaches it.
    package var platform: HubPlatform
    /// The push channel at the push service; `nil` where it is not known yet.
    package var channel: PushChannel?
    /// The id of the user to whom it belongs; compared without case.
    package var userID: String?
    /// The tags that address it, without duplicates.
    package var tags: [TagName] = []
    /// The templates, in their order, each with a name.
    package var templates: [InstallationTemplate] = []
    /// Properties that it adds to every template's, and by which it replaces them.
    package var pushVariables: [String: String] = [:]
    /// The secondary tiles of Windows, kept as received; for a registration, the name of its tile.
    package var secondaryTiles: JSONValue?
    /// The expiration time; `nil` for none.
    package var expiresAt: Timestamp?
    /// Whether it was written as a registration: its channel may have others beside it.
    package var isRegistration = false
    /// The language, or language and region: `de-AT`.
    package var locale: String?
    /// The name of the time zone: `Europe/Vienna`.
    package var timeZone: String?
    /// The country: `AT`.
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

    /// The key that no two installations share: the channel, preceded by the id for registrations.
    package var channelKey: String? {
        channelHandle.map { isRegistration ? "\(foldedID) \($0)" : $0 }
    }

    /// The identifier of the channel, in one canonical spelling.
    package var channelHandle: String? { channel.map { platform.spelling(ofChannel: $0.key) } }

    /// Whether native sends are for it: a registration with a template has that alone.
    package var takesNative: Bool { !isRegistration || templates.isEmpty }

    /// The id in the case in which installations are compared.
    package var foldedID: String { id.lowercased() }

    /// Refuses one whose time is over: it would count for nothing, and take its channel from another.
    package func checkTime(at now: Timestamp) throws(InstallationError) {
        guard let expiresAt, expiresAt <= now else { return }
        throw InstallationError(
            "/expirationTime", "\(WireTime.write(expiresAt)) is over; name a later instant, or none")
    }
}

/// The address of an installation at its push service.
package enum PushChannel: Hashable, Sendable {
    /// A token of the push service.
    case handle(String)
    /// A subscription of Web Push (RFC 8030).
    case browser(endpoint: String, p256dh: String, auth: String)

    /// The identifier of the channel among those of a platform.
    package var key: String {
        switch self {
        case .handle(let handle): handle
        case .browser(let endpoint, _, _): endpoint
        }
    }
}

/// A template of an installation: what a send's properties become on it.
package struct InstallationTemplate: Hashable, Sendable {
    /// The template's name, which counts as a tag of the template.
    package var name: String
    /// The text of the payload with expressions in it.
    package var body: String
    /// The payload's texts in other languages: names are languages, as ``LanguageTag/folded(_:)`` spells them.
    package var locales: [JSONValue.Member] = []
    /// Header fields of the push service, with expressions in their values.
    package var headers: [JSONValue.Member] = []
    /// When what it makes expires: an instant, `0`, or an expression; `nil` for the push service's own.
    package var expiry: String?
    /// Tags beside the installation's.
    package var tags: [TagName] = []

    /// Makes a template of a name and a body.
    package init(name: String, body: String) {
        self.name = name
        self.body = body
    }

    /// The text of the most exact language that holds for another (`zh-Hant-TW`, `zh-Hant`, `zh`), else the one without
    /// a language.
    package func body(locale: String?) -> String {
        guard !locales.isEmpty, let locale else { return body }
        let found = LanguageTag.lookup(locale).lazy.compactMap { name in locales.first { $0.name == name } }.first
        return found?.value.text ?? body
    }
}

/// A fault in the document of an installation.
package struct InstallationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path to the faulty member: `/tags/2`.
    package var path: String
    /// The fault, and what is expected instead.
    package var message: String

    /// Creates an instance from its properties.
    package init(_ path: String, _ message: String) {
        self.path = path
        self.message = message
    }

    package var description: String { "\(path): \(message)" }
}
