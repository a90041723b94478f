import APNsWire
import Audience
import Hub
import PushModel
import ServerCore
import Synchronization

/// Tells the gateway who is in the hubs' lists.
///
/// Whose installations registrations are is kept in memory, mostly of those that are connected, until an installation changes;
/// ``NotificationHubs`` tells of that before the change is answered.
package final class HubLists: RecipientLists {
    private let store: any HubStore
    private let sealer: DeviceTokenSealer
    private let clock: @Sendable () -> Timestamp
    private let known = Mutex(KnownOwners())

    /// The lists of a store.
    package init(store: any HubStore, sealer: DeviceTokenSealer, clock: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.sealer = sealer
        self.clock = clock
    }

    /// Asks the store by the registrations' device tokens, unless that is known.
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

    /// Looks up whose registrations are, so that it is known when a send asks. Blocks.
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

    /// Installations were changed: what is known of them is forgotten.
    package func changed(_ changes: [AudienceChange]) {
        guard !changes.isEmpty else { return }
        known.withLock { $0.changed(changes) }
    }
}

/// Whose installations registrations are, as far as that was asked: a value. Of registrations that nobody has nothing is kept.
private struct KnownOwners {
    private struct OfHub {
        var generation: Int64
        var owners: [TokenSubject: [TokenOwner]] = [:]
        var subjects: [UInt32: TokenSubject] = [:]
    }

    /// Of how many registrations of a hub it is kept.
    private static let limit = 1_000_000
    private var hubs: [Int64: OfHub] = [:]
    /// How often something changed.
    private(set) var changes = 0

    /// Forgets a hub of which another process has changed installations.
    mutating func follow(_ generation: Int64, of hub: Int64) {
        if hubs[hub]?.generation != generation { hubs[hub] = OfHub(generation: generation) }
    }

    func owners(of subjects: [TokenSubject], hub: Int64) -> [TokenSubject: [TokenOwner]] {
        guard let known = hubs[hub]?.owners, !known.isEmpty else { return [:] }
        var found: [TokenSubject: [TokenOwner]] = [:]
        for subject in subjects { found[subject] = known[subject] }
        return found
    }

    /// Keeps what was read, unless something has changed since.
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
