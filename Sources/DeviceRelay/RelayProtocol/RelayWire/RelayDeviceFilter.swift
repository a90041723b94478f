/// A filter of the devices that are reported to a watcher: a device must match all criteria that are set.
public struct RelayDeviceFilter: Hashable, Sendable {
    /// The accepted kinds of devices, in any case of queued messages; `nil` for every kind.
    public private(set) var kinds: [String]?
    /// The accepted operating systems, where `""` means all that are not in ``namedPlatforms``; `nil` for every system.
    public private(set) var platforms: [String]?
    /// Only devices that are there, or can be woken.
    public var isAvailable = false
    /// Only devices that are reached without the server, or only others; `nil` for both.
    public private(set) var isDirect: Bool?

    /// The systems that have a name.
    public static let namedPlatforms = ["windows", "android", "ios", "linux"]

    /// All devices.
    public init() {}

    /// Only devices of these kinds.
    public mutating func narrow(kinds wanted: [String]) {
        let wanted = wanted.map { $0.lowercased() }
        kinds = kinds.map { $0.filter(wanted.contains) } ?? wanted
    }

    /// Only devices with these systems.
    public mutating func narrow(platforms wanted: [String]) {
        platforms = platforms.map { $0.filter(wanted.contains) } ?? wanted
    }

    /// Only devices that are reached without the server, or only others.
    public mutating func narrow(isDirect wanted: Bool) {
        if isDirect == !wanted { excludeAll() } else { isDirect = wanted }
    }

    /// No devices.
    public mutating func excludeAll() { kinds = [] }

    /// Whether a device meets it.
    public func passes(_ device: RelayDevice) -> Bool {
        let platform = Self.namedPlatforms.contains(device.platform) ? device.platform : ""
        return kinds?.contains(device.kind.lowercased()) ?? true && platforms?.contains(platform) ?? true
            && (!isAvailable || device.presence != .offline)
            && (isDirect.map { $0 == (device.reach == .direct) } ?? true)
    }

    var map: RelayMap {
        var map: RelayMap = [:]
        map.add("kinds", kinds.map { .array($0.map(RelayValue.string)) })
        map.add("platforms", platforms.map { .array($0.map(RelayValue.string)) })
        if isAvailable { map["available"] = true }
        map.add("direct", isDirect.map(RelayValue.bool))
        return map
    }

    init(_ map: RelayMap) throws(RelayFault) {
        let fields = RelayFields(map, "filter")
        kinds = map["kinds"] == nil ? nil : try fields.texts("kinds").map { $0.lowercased() }
        platforms = map["platforms"] == nil ? nil : try fields.texts("platforms")
        isAvailable = try fields.flag("available")
        isDirect = map["direct"] == nil ? nil : try fields.flag("direct")
    }
}
