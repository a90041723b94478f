import Foundation

/// A number that the beacons of a group share.
public typealias CLBeaconMajorValue = UInt16
/// The number of a beacon within its group.
public typealias CLBeaconMinorValue = UInt16

/// The surroundings of radio beacons. A value: nothing on Linux listens for beacons, so a trigger with it never fires.
open class CLBeaconRegion: CLRegion {
    /// The identity and numbers of its beacons.
    struct Beacon: Codable {
        var uuid: UUID
        var major: UInt16?
        var minor: UInt16?
    }

    private let beacon: Beacon
    /// Kept, and without effect.
    open var notifyEntryStateOnDisplay = false

    /// The surroundings of all beacons with this identity.
    public convenience init(uuid: UUID, identifier: String) {
        self.init(Beacon(uuid: uuid), identifier: identifier)
    }

    /// The surroundings of a group of beacons.
    public convenience init(uuid: UUID, major: CLBeaconMajorValue, identifier: String) {
        self.init(Beacon(uuid: uuid, major: major), identifier: identifier)
    }

    /// The surroundings of one beacon.
    public convenience init(
        uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue, identifier: String
    ) {
        self.init(Beacon(uuid: uuid, major: major, minor: minor), identifier: identifier)
    }

    private init(_ beacon: Beacon, identifier: String) {
        self.beacon = beacon
        super.init(identifier: identifier)
    }

    /// Reads an archive of this module; `nil` for another one.
    public required init?(coder: NSCoder) {
        guard let beacon = ValueCoding.decode(Archive.self, with: coder)?.beacon else { return nil }
        self.beacon = beacon
        super.init(coder: coder)
    }

    override var archive: Archive {
        var archive = super.archive
        archive.beacon = beacon
        return archive
    }

    override func duplicate() -> CLRegion {
        let copy = CLBeaconRegion(beacon, identifier: identifier)
        copy.notifyEntryStateOnDisplay = notifyEntryStateOnDisplay
        return copy
    }

    /// The identity that the beacons share.
    open var uuid: UUID { beacon.uuid }
    /// The number of the group; `nil` for every group.
    open var major: NSNumber? { beacon.major.map { NSNumber(value: $0) } }
    /// The number in the group; `nil` for every beacon of it.
    open var minor: NSNumber? { beacon.minor.map { NSNumber(value: $0) } }
}
