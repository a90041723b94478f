import PushCore
import PushServer

extension FoldedBatch {
    /// Changes of the table of waiting rows.
    package struct WaitingChanges: Hashable, Sendable {
        /// Rows to insert.
        package private(set) var inserted: Set<OwnedID> = []
        /// Rows to delete that were there before.
        package private(set) var removed: Set<OwnedID> = []
        /// Notifications of the batch that were queued in it and are not any more; no row is written for them.
        package private(set) var skipped: Set<OwnedID> = []

        mutating func insert(_ owned: OwnedID) {
            inserted.insert(owned)
            skipped.remove(owned)
        }

        mutating func remove(_ owned: OwnedID) {
            if inserted.remove(owned) != nil { skipped.insert(owned) } else { removed.insert(owned) }
        }

        var removals: [RowChange] { removed.map { .removeWaiting($0.id, of: $0.device) } }
        var skips: [RowChange] { skipped.map { .removeWaiting($0.id, of: $0.device) } }
    }

    /// Changes of the table of tombstones. A device has one at most of each app, environment and lane.
    package struct TombstoneChanges: Hashable, Sendable {
        /// The place of a tombstone.
        package struct Place: Hashable, Sendable {
            var device: DeviceID
            var app: AppID
            var environment: PushEnvironment
            var lane: Lane
        }

        /// Tombstones to keep, each instead of the one of its place.
        package private(set) var kept: [Place: Mailbox.Tombstone] = [:]
        /// Tombstones that the batch kept and deleted: what was at their places before is deleted.
        package private(set) var emptied: [Place: Mailbox.Tombstone] = [:]
        /// Tombstones to delete by their ids.
        package private(set) var removed: Set<OwnedID> = []
        private var places: [OwnedID: Place] = [:]

        mutating func keep(_ tombstone: Mailbox.Tombstone, of device: DeviceID) {
            let place = Place(
                device: device, app: tombstone.app, environment: tombstone.environment, lane: tombstone.lane)
            emptied[place] = nil
            kept[place] = tombstone
            places[OwnedID(device: device, id: tombstone.id)] = place
        }

        mutating func remove(_ owned: OwnedID) {
            if let place = places[owned], kept[place]?.id == owned.id {
                emptied[place] = kept.removeValue(forKey: place)
            } else {
                removed.insert(owned)
            }
        }

        var changes: [RowChange] {
            removed.map { .removeTombstone($0.id, of: $0.device) }
                + kept.map { .keepTombstone($0.value, of: $0.key.device) }
                + emptied.flatMap { place, tombstone in
                    [
                        .keepTombstone(tombstone, of: place.device),
                        .removeTombstone(tombstone.id, of: place.device),
                    ]
                }
        }
    }

    /// Changes of the table of missed notifications.
    package struct MissedChanges: Hashable, Sendable {
        /// Counts to delete before others are added: of one registration, or for `nil` of the whole device.
        package private(set) var forgotten: [DeviceID: [RegistrationKey?]] = [:]
        /// Counts to add.
        package private(set) var added: [DeviceID: [MissedNotifications]] = [:]

        mutating func add(_ count: MissedNotifications, of device: DeviceID) {
            added[device, default: []].add(count)
        }

        mutating func forget(_ place: RegistrationKey?, of device: DeviceID) {
            added[device]?.removeAll { place == nil || $0.app == place?.app && $0.environment == place?.environment }
            forgotten[device, default: []].append(place)
        }

        var changes: [RowChange] {
            forgotten.flatMap { device, places in places.map { .forgetMissed(of: device, only: $0) } }
                + added.flatMap { device, counts in counts.map { .addMissed($0, of: device) } }
        }
    }
}
