/// The state of its account's devices that a device knows.
public struct DirectoryRevision: Hashable, Sendable {
    /// The epoch to which the revision belongs; 0 for none.
    public var epoch: Int64
    /// The number of the state.
    public var revision: Int64

    /// Names a state; nothing is known unless one is given.
    public init(epoch: Int64 = 0, revision: Int64 = 0) {
        self.epoch = epoch
        self.revision = revision
    }

    var map: RelayMap { ["epoch": .integer(epoch), "revision": .integer(revision)] }

    init(_ map: RelayMap) throws(RelayFault) {
        let fields = RelayFields(map, "known")
        epoch = try fields.integer("epoch")
        revision = try fields.integer("revision")
    }
}

/// The changes to an account's devices between two states, or all devices; sent to devices that report the state they
/// know.
public struct RelayChanges: Hashable, Sendable {
    /// The id of the receiving device, in the response to its hello and where it receives all devices again; `nil` for
    /// later changes.
    public var device: String?
    /// The epoch to which the revisions belong.
    public var epoch: Int64
    /// The state that these changes follow; `nil` where all devices are included.
    public var since: Int64?
    /// The state that a device knows which had the one before.
    public var revision: Int64
    /// The devices that are new or others, or all.
    public var devices: [RelayDevice]
    /// The devices that were removed from the account.
    public var removed: [String]
    /// The ids of ``devices`` that are sent without their apps; each follows as ``RelayFrame/changed(revision:_:)``.
    public var undescribed: [String]

    /// Names changes.
    public init(
        device: String? = nil, epoch: Int64, since: Int64?, revision: Int64, devices: [RelayDevice],
        removed: [String] = [], undescribed: [String] = []
    ) {
        self.device = device
        self.epoch = epoch
        self.since = since
        self.revision = revision
        self.devices = devices
        self.removed = removed
        self.undescribed = undescribed
    }

    var map: RelayMap {
        var map: RelayMap = ["type": "changes", "epoch": .integer(epoch), "revision": .integer(revision)]
        map.add("device", device.map(RelayValue.string))
        map.add("since", since.map(RelayValue.integer))
        if !devices.isEmpty { map["devices"] = .array(devices.map { .dictionary($0.map) }) }
        map.add("removed", texts: removed)
        map.add("rest", texts: undescribed)
        return map
    }

    init(_ fields: RelayFields) throws(RelayFault) {
        device = try fields.optionalText("device", most: 64)
        epoch = try fields.integer("epoch")
        since = try fields.optionalInteger("since")
        revision = try fields.integer("revision")
        var devices: [RelayDevice] = []
        for map in try fields.maps("devices", most: 256) { devices.append(try RelayDevice(map)) }
        self.devices = devices
        removed = try fields.texts("removed", most: 256)
        undescribed = try fields.texts("rest", most: 256)
    }
}
