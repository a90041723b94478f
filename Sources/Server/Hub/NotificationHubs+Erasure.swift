import HubWire
import PushModel
import ServerCore

/// What was deleted of a person.
package struct Erasure: Hashable, Sendable {
    /// The ids of the installations.
    package var installations: [String] = []
    /// How many notifications waited for their devices and were taken back.
    package var notifications = 0
    /// How many events for the webhook named them and are not sent.
    package var events = 0
}

extension NotificationHubs {
    /// Deletes everything of a person: every installation of a user id, what waits for their devices, and the events that name
    /// them. It may be asked again where it throws.
    package func erase(
        user: String, of hub: HubRecord, timelines: any TimelineService, by withdrawal: any NotificationWithdrawal
    ) async throws -> Erasure {
        var erasure = Erasure()
        let numbers = try await store.numbers(ofUser: user.lowercased(), hub: hub.number)
        for found in try await store.installations(numbers, hub: hub.number) {
            try await followCopies(of: found.number, hub)
            erasure.notifications += try await takeBack(from: found.number, hub, timelines, withdrawal)
            guard let events = try await store.erase(found.installation.id, hub: hub.number, committed: committed)
            else { continue }
            erasure.installations.append(found.installation.id)
            erasure.events += events
            // A slice may have been under way.
            erasure.notifications += try await takeBack(from: found.number, hub, timelines, withdrawal)
        }
        return erasure
    }

    /// How often copies are looked for that were made of a part, at most.
    private static let mostLooks = 100

    /// Makes an installation's rows for copies that were made of parts in which it is.
    private func followCopies(of installation: UInt32, _ hub: HubRecord) async throws {
        let parts = try await store.openParts(with: installation, hub: hub.number, at: now)
        for record in try await store.sends(Array(Set(parts.map(\.send)))) {
            var before: [SendPart] = []
            for _ in 0..<Self.mostLooks {
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
        let waiting = try await store.waiting(for: installation)
        let records = Dictionary(
            try await store.sends(Array(Set(waiting.map(\.send)))).map { ($0.number, $0) }, uniquingKeysWith: { $1 })
        var count = 0
        for (send, recipient) in waiting {
            guard let record = records[send], let id = notificationID(of: recipient, in: record, hub: hub) else {
                continue
            }
            switch try await takeBack(id, hub, timelines, withdrawal) {
            case .failed?: throw HubFault.conflict("what waits for a device cannot be taken back now; try again")
            case .withdrawn?, .mayHaveArrived?:
                var row = recipient
                row.end = .ended
                try await store.note([row], of: send, lookedUpAt: now)
                count += 1
            case .ended?, .unknown?, nil: break
            }
        }
        return count
    }
}
