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
            for (subject, owners) in try owners(of: subjects, hub: list.hub, generation: list.generation) {
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
        for hub in hubs { _ = try owners(of: subjects, hub: hub.number, generation: hub.generation) }
    }

    private func owners(
        of subjects: [TokenSubject], hub: Int64, generation: Int64
    ) throws -> [TokenSubject: [TokenOwner]] {
        let (kept, changes) = known.withLock { known in
            known.follow(generation, of: hub)
            return (known.owners(of: subjects, hub: hub), known.changes)
        }
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
        var owners: [TokenSubject: [TokenOwner]] = [:]
        var subjects: [UInt32: TokenSubject] = [:]
    }

    /// The maximum number of cached registrations of a hub.
    private static let limit = 1_000_000
    private var hubs: [Int64: OfHub] = [:]
    /// The number of changes.
    private(set) var changes = 0

    /// Clears a hub's cache if another process has changed installations.
    mutating func follow(_ generation: Int64, of hub: Int64) {
        if hubs[hub]?.generation != generation { hubs[hub] = OfHub(generation: generation) }
    }

    func owners(of subjects: [TokenSubject], hub: Int64) -> [TokenSubject: [TokenOwner]] {
        guard let known = hubs[hub]?.owners, !known.isEmpty else { return [:] }
        var found: [TokenSubject: [TokenOwner]] = [:]
        for subject in subjects { found[subject] = known[subject] }
        return found
    }

    /// Caches the rows that were read, unless there was a change since.
    mutating func learn(_ read: [TokenSubject: [TokenOwner]], of hub: Int64, asOf changes: Int) {
        guard changes == self.changes, !read.isEmpty, let generation = hubs[hub]?.generation else { return }
        if hubs[hub]?.owners.count ?? 0 > Self.limit { hubs[hub] = OfHub(generation: generation) }
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
