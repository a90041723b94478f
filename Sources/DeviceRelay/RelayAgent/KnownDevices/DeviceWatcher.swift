import RelayProtocol

/// A client's watch on the person's other devices: what it was told of them. A value.
struct DeviceWatcher {
    /// Whether the client watches.
    private(set) var isOn = false
    /// The filters of the watched devices: those that match any of them, or all devices where there is none.
    private var filters: [RelayDeviceFilter] = []
    /// The devices last reported, by id.
    private var seen: [String: RelayDevice] = [:]
    private var isEnumerated = false

    /// Begins to watch anew.
    mutating func begin(_ filters: [RelayDeviceFilter]) {
        isOn = true
        self.filters = filters
        seen = [:]
        isEnumerated = false
    }

    /// Watches no more.
    mutating func end() { isOn = false }

    /// Nothing is known of the devices, for some reason; the reported devices stay until there is a newer state.
    mutating func fail(_ obstacle: DiscoveryFailure, why: String) -> [RelayNotice] {
        defer { isEnumerated = false }
        return isEnumerated ? [.watchFailed(obstacle, why)] : []
    }

    /// The changes that the client does not know.
    ///
    /// - Parameters:
    ///   - devices: The person's other devices.
    ///   - undescribed: The ids of devices whose apps are not known yet.
    mutating func update(_ devices: [String: RelayDevice], undescribed: Set<String>) -> [RelayNotice] {
        var notices: [RelayNotice] = []
        var others: [String: RelayDevice] = [:]
        for (id, device) in devices {
            // A watcher keeps the known description of a device until its apps are received.
            let told = undescribed.contains(id) ? seen[id] : device
            if filters.isEmpty || filters.contains(where: { $0.passes(device) }) { others[id] = told }
        }
        for id in seen.keys.sorted() where others[id] == nil {
            notices.append(.removed(device: id))
            seen[id] = nil
        }
        for device in others.values.sorted(by: { $0.id < $1.id }) where seen[device.id] != device {
            notices.append(seen[device.id] == nil ? .added(device) : .updated(device))
            seen[device.id] = device
        }
        if !isEnumerated, undescribed.isEmpty {
            isEnumerated = true
            notices.append(.enumerationCompleted)
        }
        return notices
    }
}
