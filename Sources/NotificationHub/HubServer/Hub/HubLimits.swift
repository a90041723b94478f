import HubProtocol

/// The quotas of a hub. A key that may put installations is in every copy of an app, so whoever has the app can put any number.
package struct HubLimits: Hashable, Sendable {
    /// Installations, Azure's registrations among them, that the hub holds at most.
    package var installations: Int
    /// Distinct tags, of installations and of templates, by which installations can be reached at most.
    package var tags: Int
    /// Writes of installations in a second by one key that is in apps, after a burst of ``burst`` seconds' worth.
    package var writesPerSecond: Int

    /// Takes numbers, each 1 to ``greatest``; those of a hub that was given no others where none are named.
    package init(
        installations: Int = standardInstallations, tags: Int = standardTags,
        writesPerSecond: Int = standardWritesPerSecond
    ) {
        self.installations = installations
        self.tags = tags
        self.writesPerSecond = writesPerSecond
    }

    /// The greatest number of each that a hub can be given.
    package static let greatest = 100_000_000
    /// Installations of a hub that was given no other number.
    package static let standardInstallations = 1_000_000
    /// Distinct tags of a hub that was given no other number; in memory each takes some 300 bytes.
    package static let standardTags = 250_000
    /// Writes in a second of a hub that was given no other number.
    package static let standardWritesPerSecond = 200
    /// Seconds' worth of writes that may come at once.
    package static let burst = 30
    /// Bytes of an installation's document, on the average over a hub that holds as many as it may.
    package static let averageDocument = 1024

    /// Bytes that the documents of all installations take at most.
    package var documentBytes: Int { installations * Self.averageDocument }

    /// The quota that a put would pass; `nil` for none.
    ///
    /// A put in place of an earlier installation passes none, unless its document grows beyond the average.
    package func excess(of put: InstallationWrite) -> HubQuota? {
        if let before = put.before {
            guard put.after.bytes > max(before.bytes, Self.averageDocument),
                put.documentBytes - before.bytes + put.after.bytes > documentBytes
            else { return nil }
            return .documents(documentBytes)
        }
        guard put.installations < installations else { return .installations(installations) }
        guard put.documentBytes + put.after.bytes <= documentBytes else { return .documents(documentBytes) }
        return nil
    }
}

/// A put of an installation, as its hub's quotas judge it: in the transaction that writes it.
package struct InstallationWrite: Sendable {
    /// An installation before the put or after it.
    package struct Side: Sendable {
        /// The installation's properties in audiences; `nil` where it cannot be reached.
        package var entry: AudienceEntry?
        /// The bytes of its document.
        package var bytes: Int

        /// Brings both together.
        package init(entry: AudienceEntry?, bytes: Int) {
            self.entry = entry
            self.bytes = bytes
        }
    }

    /// Installations that the hub holds.
    package var installations: Int
    /// Bytes that their documents take.
    package var documentBytes: Int
    /// The version of the hub's audience.
    package var version: Int64
    /// The installation that it takes the place of; `nil` for a new one.
    package var before: Side?
    /// The installation that is put.
    package var after: Side

    /// Brings the parts together.
    package init(installations: Int, documentBytes: Int, version: Int64, before: Side?, after: Side) {
        self.installations = installations
        self.documentBytes = documentBytes
        self.version = version
        self.before = before
        self.after = after
    }
}

/// A quota that a request would pass.
package enum HubQuota: Hashable, Sendable, CustomStringConvertible {
    /// The hub holds as many installations as it may.
    case installations(Int)
    /// The documents of the hub's installations take as many bytes as they may.
    case documents(Int)
    /// Installations have as many distinct tags, or values of another property, as they may.
    case values(IndexedProperty, Int)
    /// A key that is in apps writes too often; there may be another write after some seconds.
    case writes(HubWriteScope, retryAfter: Int)

    package var description: String {
        switch self {
        case .installations(let most):
            "the hub has \(most) installations, as many as it may; delete some, or have its operator allow more "
                + "(aldaba hub limit)"
        case .documents(let most):
            "the documents of the hub's installations take \(most) bytes, as many as they may; delete some, or have its "
                + "operator allow more installations (aldaba hub limit)"
        case .values(.tag, let most):
            "the hub's installations have \(most) distinct tags, as many as they may; use tags that others have, or have its "
                + "operator allow more (aldaba hub limit)"
        case .values(let property, let most):
            "the hub's installations name \(most) distinct values of \(property.rawValue), as many as they may"
        case .writes(let scope, let seconds):
            "\(scope == .key ? "this key" : "this address") writes more installations than it may; try again after "
                + "\(seconds) s"
        }
    }

    /// The names of all quotas.
    package static let names =
        ["installations", "documents"] + IndexedProperty.allCases.map(\.rawValue)
        + HubWriteScope.allCases.map(\.rawValue)

    /// The name of the quota, one of ``names``.
    package var name: String {
        switch self {
        case .installations: "installations"
        case .documents: "documents"
        case .values(let property, _): property.rawValue
        case .writes(let scope, _): scope.rawValue
        }
    }
}

/// The party whose writes are counted together.
package enum HubWriteScope: String, Hashable, Sendable, CaseIterable {
    /// All who have one key.
    case key
    /// All who come from one address.
    case address
}
