import APNsProtocol
import HubProtocol
import PushCore
import PushServer
import Synchronization

/// The members of the hubs' lists, for the gateway.
///
/// The owners of registrations are cached, mostly for connected devices, until an installation changes.
/// ``NotificationHubs`` reports a change before the request is answered.
package final class HubLists: RecipientLists {
    private let store: any HubStore
    private let sealer: DeviceTokenSealer
    private let clock: @Sendable () -> Timestamp
    private let known = Mutex(CachedOwners())

    /// Creates the lists of a store.
    package init(store: any HubStore, sealer: DeviceTokenSealer, clock: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.sealer = sealer
        self.clock = clock
    }

    /// Reads the store by the registrations' device tokens, unless their owners are cached.
    package func members(_ registrations: [Int64: [TokenSubject]]) throws -> [Int64: Set<DeviceID>] {
        let lists = try store.openLists(Array(registrations.keys))
        let now = clock()
        var members: [Int64: Set<DeviceID>] = [:]
        for (number, subjects) in registrations {
            guard let list = lists[number] else { continue }
            try follow(list.hub, generation: list.generation, version: list.version)
            for (subject, owners) in try owners(of: subjects, hub: list.hub) {
                let isIn = owners.contains { owner in
                    owner.moment < list.moment && list.audience.contains(owner.number)
                        && owner.expiresAt.map { $0 > now } ?? true
                }
                if isIn { members[number, default: []].insert(subject.device) }
            }
        }
        return members
    }

    /// Caches the owners of registrations before a send needs them. Blocks.
    package func learn(_ subjects: [TokenSubject], of hubs: [HubRecord]) throws {
        for hub in hubs {
            try follow(hub.number, generation: hub.generation, version: hub.version)
            _ = try owners(of: subjects, hub: hub.number)
        }
    }

    /// The commits of other servers that are read. Where there are more, nothing stays in the cache.
    private static let mostCommits = 1000

    /// Removes from the cache what has changed up to a version.
    private func follow(_ hub: Int64, generation: Int64, version: Int64) throws {
        let last = known.withLock { $0.follow(generation, version: version, of: hub) }
        // The changes of a store that is not shared are reported.
        guard store.isShared, last < version else { return }
        let commits = try store.readCommits(of: hub, after: last, limit: Self.mostCommits)
        known.withLock { $0.apply(commits, after: last, of: hub, version: version) }
    }

    private func owners(of subjects: [TokenSubject], hub: Int64) throws -> [TokenSubject: [TokenOwner]] {
        let (kept, changes) = known.withLock { ($0.owners(of: subjects, hub: hub), $0.changes) }
        let unknown = subjects.filter { kept[$0] == nil }
        guard !unknown.isEmpty else { return kept }
        var read: [TokenSubject: [TokenOwner]] = [:]
        let tokens = try unknown.map { try sealer.everyToken(of: $0).map(\.description) }
        for (subject, owners) in zip(unknown, try store.tokenOwners(tokens, hub: hub)) where !owners.isEmpty {
            read[subject] = owners
        }
        known.withLock { $0.learn(read, of: hub, asOf: changes) }
        return kept.merging(read) { $1 }
    }

    /// Removes changed installations from the cache.
    package func changed(_ changes: [AudienceChange]) {
        guard !changes.isEmpty else { return }
        known.withLock { $0.changed(changes) }
    }
}

/// The cached owners of registrations: a value. Registrations without an owner are not cached.
private struct CachedOwners {
    private struct OfHub {
        var generation: Int64
        /// The version of the hub's audience up to which changes were removed.
        var version: Int64
        var owners: [TokenSubject: [TokenOwner]] = [:]
        var subjects: [UInt32: TokenSubject] = [:]
    }

    /// The maximum number of cached registrations of a hub.
    private static let limit = 1_000_000
    private var hubs: [Int64: OfHub] = [:]
    /// The number of changes.
    private(set) var changes = 0

    /// Clears a hub's cache if another process has imported installations.
    ///
    /// - Parameter version: The version of the hub's audience.
    /// - Returns: The version up to which changes were removed.
    mutating func follow(_ generation: Int64, version: Int64, of hub: Int64) -> Int64 {
        if let known = hubs[hub], known.generation == generation { return known.version }
        hubs[hub] = OfHub(generation: generation, version: version)
        return version
    }

    /// Removes what commits have changed, or everything where one is missing.
    mutating func apply(_ commits: [AudienceCommit], after last: Int64, of hub: Int64, version: Int64) {
        // A copy of the hub's cache would be copied whole by the first change.
        guard let generation = hubs[hub]?.generation, let own = hubs[hub]?.version, own < version else { return }
        changed(commits.flatMap(\.changes))
        let isComplete = zip(commits, (last + 1)...).allSatisfy { $0.version == $1 }
        if isComplete, let end = commits.last?.version, end >= version {
            hubs[hub]?.version = max(own, end)
        } else {
            hubs[hub] = OfHub(generation: generation, version: version)
        }
    }

    func owners(of subjects: [TokenSubject], hub: Int64) -> [TokenSubject: [TokenOwner]] {
        guard let known = hubs[hub]?.owners, !known.isEmpty else { return [:] }
        var found: [TokenSubject: [TokenOwner]] = [:]
        for subject in subjects { found[subject] = known[subject] }
        return found
    }

    /// Caches the rows that were read, unless there was a change since.
    mutating func learn(_ read: [TokenSubject: [TokenOwner]], of hub: Int64, asOf changes: Int) {
        guard changes == self.changes, !read.isEmpty, let generation = hubs[hub]?.generation,
            let version = hubs[hub]?.version
        else { return }
        if hubs[hub]?.owners.count ?? 0 > Self.limit { hubs[hub] = OfHub(generation: generation, version: version) }
        for (subject, owners) in read {
            hubs[hub]?.owners[subject] = owners
            for owner in owners { hubs[hub]?.subjects[owner.number] = subject }
        }
    }

    mutating func changed(_ changes: [AudienceChange]) {
        self.changes += 1
        for change in changes {
            guard let number = (change.before ?? change.after)?.number,
                let subject = hubs[change.hub]?.subjects.removeValue(forKey: number)
            else { continue }
            hubs[change.hub]?.owners[subject] = nil
        }
    }
}
