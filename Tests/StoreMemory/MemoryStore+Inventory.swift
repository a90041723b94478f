import PushCore
import PushServer

extension MemoryStore: InventoryStore {
    /// Searches all notifications and refusals.
    package func notifications(
        _ filter: NotificationFilter, before: NotificationID?, limit: Int
    ) async throws -> InventoryPage<InventoryNotification, NotificationID> {
        state.withLock { state in
            let ids = (state.rows.all.map(\.id) + state.rows.refusals.keys).sorted(by: >)
                .drop { id in before.map { id >= $0 } ?? false }
            var page = InventoryPage<InventoryNotification, NotificationID>()
            for (passed, id) in ids.enumerated() {
                if let found = state.listed(id, filter) { page.items.append(found) }
                if page.items.count == limit || passed + 1 == InventoryPage<Int, Int>.slice {
                    page.next = id
                    return page
                }
            }
            return page
        }
    }

    /// Searches all devices after the cursor.
    package func devices(
        _ filter: DeviceFilter, after: DeviceID?, limit: Int
    ) async throws -> InventoryPage<InventoryDevice, DeviceID> {
        state.withLock { state in
            let devices = state.register.enrolledDevices(after: after, limit: InventoryPage<Int, Int>.slice)
            var page = InventoryPage<InventoryDevice, DeviceID>()
            for (passed, device) in devices.enumerated() {
                var device = device
                let places = state.register.places(of: device.device, filter.team)
                device.registrations = places.count
                let item = InventoryDevice(device: device, registrations: places)
                if filter.wants(item) { page.items.append(item) }
                if page.items.count == limit || passed + 1 == InventoryPage<Int, Int>.slice {
                    page.next = device.device
                    return page
                }
            }
            return page
        }
    }
}

extension MemoryStore.State {
    /// A notification as it is listed; `nil` for one that does not match the filter.
    fileprivate func listed(_ id: NotificationID, _ filter: NotificationFilter) -> InventoryNotification? {
        guard let timeline = timeline(id) else { return nil }
        let waits = timeline.device.map { device in rows.waiting(for: device).contains { $0.id == id } } ?? false
        let state: NotificationFilter.State = rows.refusals[id] != nil ? .refused : waits ? .waiting : .ended
        guard
            filter.wants(team: timeline.team, topic: timeline.topic, device: timeline.device, state: state)
        else { return nil }
        return InventoryNotification(timeline: timeline, state: state)
    }
}

extension Register {
    /// The active registrations of a device, of one team or of all.
    fileprivate func places(of device: DeviceID, _ team: TeamID?) -> [InventoryDevice.Place] {
        let places = registrations.filter { $0.key.device == device && $0.value.endedAt == nil }.keys
        let found = places.compactMap { place in
            app(place.app).flatMap { team == nil || $0.team == team ? ($0.topic, place.environment) : nil }
        }
        return found.sorted { ($0.0.rawValue, $0.1.rawValue) < ($1.0.rawValue, $1.1.rawValue) }
            .prefix(InventoryDevice.placeLimit)
            .map { InventoryDevice.Place(topic: $0.0, environment: $0.1) }
    }
}
