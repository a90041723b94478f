import HubProtocol
import PushCore
import PushServer

/// The data that an erasure deleted of a person.
package struct Erasure: Hashable, Sendable {
    /// The ids of the installations.
    package var installations: [String] = []
    /// The number of notifications that were queued for their devices or shown on them, and were withdrawn.
    package var notifications = 0
    /// The number of webhook events that named the installations and are not sent.
    package var events = 0
}

extension NotificationHubs {
    /// Deletes all data of a person: every installation of a user id, the notifications queued for or shown on their
    /// devices, and the events that name them.
    ///
    /// The installations leave every audience first and are deleted last: after an error the call can be repeated, and
    /// still finds them. In between it waits for the slices that were under way.
    package func erase(
        user: String, of hub: HubRecord, timelines: any TimelineService, by withdrawal: any NotificationWithdrawal
    ) async throws -> Erasure {
        var erasure = Erasure()
        let numbers = try await store.numbers(ofUser: user.lowercased(), hub: hub.number)
        let found = try await store.installations(numbers, hub: hub.number)
        try await store.retire(found, hub: hub.number, at: now, committed: committed)
        await slices.settle(hub.number)
        for each in found {
            try await followCopies(of: each.number, hub)
            erasure.notifications += try await takeBack(from: each.number, hub, timelines, withdrawal)
            guard let events = try await store.erase(each.installation.id, hub: hub.number, committed: committed)
            else { continue }
            erasure.installations.append(each.installation.id)
            erasure.events += events
        }
        return erasure
    }

    /// The maximum number of rounds in which a part's copies are read.
    private static let mostFollowRounds = 100

    /// Makes an installation's report rows for copies of the parts that contain it.
    private func followCopies(of installation: UInt32, _ hub: HubRecord) async throws {
        let parts = try await store.openParts(with: installation, hub: hub.number, at: now)
        for record in try await store.sends(Array(Set(parts.map(\.send)))) {
            var before: [SendSegment] = []
            for _ in 0..<Self.mostFollowRounds {
                try await follow(record, of: hub)
                let after = try await store.parts(ofSend: record.number)
                if after == before { break }
                before = after
            }
        }
    }

    private func takeBack(
        from installation: UInt32, _ hub: HubRecord, _ timelines: any TimelineService,
        _ withdrawal: any NotificationWithdrawal
    ) async throws -> Int {
        let open = try await store.openRecipients(for: installation)
        let records = Dictionary(
            try await store.sends(Array(Set(open.map(\.send)))).map { ($0.number, $0) }, uniquingKeysWith: { $1 })
        var count = 0
        for (send, recipient) in open {
            guard let record = records[send], let id = notificationID(of: recipient, in: record, hub: hub) else {
                continue
            }
            let outcome = try await takeBack(id, hub, timelines, withdrawal)
            guard outcome != .failed else {
                throw HubFault.conflict("what is on a device, or waits for it, cannot be taken back now; try again")
            }
            guard outcome?.isTakenBack ?? false else { continue }
            var row = recipient
            row.end = .ended
            try await store.note([row], of: send, lookedUpAt: now)
            count += 1
        }
        return count
    }
}
