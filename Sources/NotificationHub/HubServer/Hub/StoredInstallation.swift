import HubProtocol
import PushCore

/// An installation as the store keeps it.
package struct StoredInstallation: Hashable, Sendable {
    /// The installation's number, which is never used again.
    package var number: UInt32
    /// The installation's document.
    package var installation: Installation
    /// The version, which rises with every change; the entity tag.
    package var version: Int64
    /// The time of the first put.
    package var createdAt: Timestamp
    /// The time of the last put or change.
    package var updatedAt: Timestamp
    /// The time of the last put or change, or of the last connection of one of this server's own devices.
    package var seenAt: Timestamp
    /// The reason why the channel is dead; `nil` while it is not known to be.
    package var fault: ChannelFault?

    /// Creates an instance from its properties.
    package init(
        number: UInt32, installation: Installation, version: Int64, createdAt: Timestamp, updatedAt: Timestamp,
        fault: ChannelFault?, seenAt: Timestamp? = nil
    ) {
        self.seenAt = max(updatedAt, seenAt ?? updatedAt)
        self.number = number
        self.installation = installation
        self.version = version
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.fault = fault
    }

    /// The attributes by which audiences are selected; `nil` where the installation cannot be reached.
    package var entry: AudienceEntry? {
        guard fault == nil, installation.channel != nil else { return nil }
        let templates = installation.templates
        return AudienceEntry(
            number: number, platform: installation.platform, tags: installation.tags,
            templateTags: Array(Set(templates.flatMap { $0.tags + [TagName($0.name)].compactMap { $0 } })),
            hasTemplates: !templates.isEmpty, locale: installation.locale?.lowercased(),
            country: installation.country?.lowercased(), appVersion: installation.appVersion,
            timeZone: installation.timeZone, person: installation.person,
            isRegistration: installation.isRegistration, seenAt: seenAt)
    }

    /// Whether a term of an expression matches the installation, or one of its templates.
    ///
    /// - Parameter more: Tags in addition to its own.
    package func matches(_ term: TagExpression, more: Set<TagName> = [], now: Timestamp) -> Bool {
        switch term {
        case .tag(let tag): installation.tags.contains(tag) || more.contains(tag)
        case .installation(let id): installation.foldedID == id
        case .user(let user): installation.userID?.lowercased() == user
        case .field(let test): matches(test, now)
        case .not, .all, .any: term.matches { matches($0, more: more, now: now) }
        }
    }

    private func matches(_ test: FieldTest, _ now: Timestamp) -> Bool {
        switch test {
        case .locale(let wanted):
            installation.locale.map { AudienceIndex.locale($0.lowercased(), isOf: wanted) } ?? false
        case .country(let country): installation.country?.lowercased() == country
        case .platform(let name): HubPlatform(text: name) == installation.platform
        case .appVersion(let comparison, let wanted):
            installation.appVersion.flatMap(AppVersion.init).map { comparison.matches($0, wanted) } ?? false
        case .lastSeen(let isWithin, let milliseconds): (now.milliseconds(since: seenAt) <= milliseconds) == isWithin
        }
    }
}

/// The reason why a channel is dead, as the push service gave it.
package struct ChannelFault: Hashable, Sendable {
    /// The push service's reason.
    package var word: String
    /// The time of the push service's response.
    package var at: Timestamp

    /// Creates an instance from its properties.
    package init(word: String, at: Timestamp) {
        self.word = word
        self.at = at
    }
}

/// The change of an installation's audience entry in a commit.
package struct AudienceChange: Hashable, Sendable {
    /// The hub's number.
    package var hub: Int64
    /// The entry before the commit; `nil` where the installation was new or could not be reached.
    package var before: AudienceEntry?
    /// The entry after the commit; `nil` where the installation is deleted or cannot be reached.
    package var after: AudienceEntry?

    /// Creates an instance from its properties.
    package init(hub: Int64, before: AudienceEntry?, after: AudienceEntry?) {
        self.hub = hub
        self.before = before
        self.after = after
    }
}
