import PushCore
import PushServer

extension MemoryStore: InventoryStore {
    /// Searches all notifications and refusals.
    package func notifications(
        _ filter: NotificationFilter, before: NotificationID?, limit: Int
    ) async throws -> InventoryPage<InventoryNotification, NotificationID> {
        state.withLock { state in
            let ids = (state.rows.all.map(\.id) + state.rows.refusals.keys).sorted(by: >)
                .filter { filter.ids(before: before).contains($0.rawValue) }
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

    /// Searches all notifications.
    package func content(of id: NotificationID) async throws -> NotificationContent? {
        state.withLock { $0.content(id) }
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

    /// Searches all registrations of the device.
    package func device(_ device: DeviceID, team: TeamID?) async throws -> DeviceDetail? {
        state.withLock { state in
            let before = DeviceID(device.rawValue - 1)
            guard var found = state.register.enrolledDevices(after: before, limit: 1).first, found.device == device
            else { return nil }
            let apps = state.apps(on: device, team)
            found.registrations = apps.count
            return team == nil || !apps.isEmpty ? DeviceDetail(device: found, apps: apps) : nil
        }
    }
}

extension MemoryStore.State {
    /// The apps that are registered on a device, of one team or of all.
    fileprivate func apps(on device: DeviceID, _ team: TeamID?) -> [DeviceDetail.App] {
        let active = register.registrations.filter { $0.key.device == device && $0.value.endedAt == nil }
        let found = active.compactMap { place, registration -> DeviceDetail.App? in
            guard let app = register.app(place.app), team == nil || app.team == team else { return nil }
            var found = DeviceDetail.App(
                place: place, generation: registration.generation, topic: app.topic, team: app.team,
                registeredAt: register.registeredAt[place] ?? .distantPast)
            found.waiting = rows.waiting(for: device).count {
                $0.subject.app == place.app && $0.subject.environment == place.environment
            }
            found.missed = missed(by: place)
            found.hasEncryptionKey = register.encryptionKeys[place] != nil
            found.web = register.fcm.webRegistrations[place]?.registration
            return found
        }
        return found.sorted {
            ($0.topic.rawValue, $0.place.environment.rawValue) < ($1.topic.rawValue, $1.place.environment.rawValue)
        }
    }

    private func missed(by place: RegistrationKey) -> [DeviceDetail.Missed] {
        let cleared = rows.tombstones(of: place.device)
            .filter { $0.app == place.app && $0.environment == place.environment }
            .map { DeviceDetail.Missed(reason: .cleared, lane: $0.lane, count: $0.count, since: $0.since) }
        let expired = rows.missed[place.device, default: []]
            .filter { $0.app == place.app && $0.environment == place.environment }
            .map { DeviceDetail.Missed(reason: .expired, lane: $0.lane, count: $0.count, since: $0.since) }
        return cleared + expired
    }

    /// A notification as it is listed; `nil` for one that does not match the filter.
    fileprivate func listed(_ id: NotificationID, _ filter: NotificationFilter) -> InventoryNotification? {
        guard let timeline = timeline(id) else { return nil }
        let waits = timeline.device.map { device in rows.waiting(for: device).contains { $0.id == id } } ?? false
        let state: NotificationFilter.State = rows.refusals[id] != nil ? .refused : waits ? .waiting : .ended
        guard
            filter.wants(team: timeline.team, topic: timeline.topic, device: timeline.device, state: state)
        else { return nil }
        let found = InventoryNotification(timeline: timeline, state: state, content: content(id))
        return filter.wants(found) ? found : nil
    }

    fileprivate func content(_ id: NotificationID) -> NotificationContent? {
        guard let record = rows.all.first(where: { $0.id == id }) else { return nil }
        return NotificationContent(
            pushType: record.pushType, priority: record.priority, collapseID: record.collapseID,
            expiresAt: record.expiresAt, lane: record.lane, payload: rows.content(of: record))
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
