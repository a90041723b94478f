import Audience
import HubWire
import PushModel

/// An installation as the store keeps it.
package struct StoredInstallation: Hashable, Sendable {
    /// Its number, which nothing else ever has.
    package var number: UInt32
    /// What was put.
    package var installation: Installation
    /// Rises with every change; the entity tag.
    package var version: Int64
    /// When it was put first.
    package var createdAt: Timestamp
    /// When it was put or changed last.
    package var updatedAt: Timestamp
    /// When it was put, changed or, on this server's own devices, there last.
    package var seenAt: Timestamp
    /// Why its channel is dead; `nil` while it is not known to be.
    package var fault: ChannelFault?

    /// Brings the parts together.
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

    /// What audiences ask of it; `nil` where it cannot be reached.
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

    /// Whether a term of an expression holds for it, or for one of its templates.
    ///
    /// - Parameter more: Tags beside its own.
    package func holds(_ term: TagExpression, more: Set<TagName> = [], now: Timestamp) -> Bool {
        switch term {
        case .tag(let tag): installation.tags.contains(tag) || more.contains(tag)
        case .installation(let id): installation.foldedID == id
        case .user(let user): installation.userID?.lowercased() == user
        case .field(let test): holds(test, now)
        case .not, .all, .any: term.holds { holds($0, more: more, now: now) }
        }
    }

    private func holds(_ test: FieldTest, _ now: Timestamp) -> Bool {
        switch test {
        case .locale(let wanted):
            installation.locale.map { AudienceIndex.locale($0.lowercased(), isOf: wanted) } ?? false
        case .country(let country): installation.country?.lowercased() == country
        case .platform(let name): HubPlatform(text: name) == installation.platform
        case .appVersion(let comparison, let wanted):
            installation.appVersion.flatMap(AppVersion.init).map { comparison.holds($0, wanted) } ?? false
        case .lastSeen(let isWithin, let milliseconds): (now.milliseconds(since: seenAt) <= milliseconds) == isWithin
        }
    }
}

/// Why a channel is dead, in the sender's own word.
package struct ChannelFault: Hashable, Sendable {
    /// The sender's word.
    package var word: String
    /// When it was said.
    package var at: Timestamp

    /// Brings the parts together.
    package init(word: String, at: Timestamp) {
        self.word = word
        self.at = at
    }
}

/// What a commit changed in what audiences ask.
package struct AudienceChange: Hashable, Sendable {
    /// The hub's number.
    package var hub: Int64
    /// The entry before the commit; `nil` where the installation was new or could not be reached.
    package var before: AudienceEntry?
    /// The entry after the commit; `nil` where the installation is deleted or cannot be reached.
    package var after: AudienceEntry?

    /// Brings the parts together.
    package init(hub: Int64, before: AudienceEntry?, after: AudienceEntry?) {
        self.hub = hub
        self.before = before
        self.after = after
    }
}
