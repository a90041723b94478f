@_exported import Foundation

/// Degrees of latitude or longitude, WGS 84.
public typealias CLLocationDegrees = Double
/// Metres.
public typealias CLLocationDistance = Double

/// A place on the earth.
public struct CLLocationCoordinate2D: Sendable {
    /// North is positive, `-90 ... 90`.
    public var latitude: CLLocationDegrees
    /// East is positive, `-180 ... 180`.
    public var longitude: CLLocationDegrees

    /// Creates the coordinate at which equator and prime meridian meet.
    public init() { self.init(latitude: 0, longitude: 0) }

    /// A place by its degrees.
    public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// A place by its degrees; the name that C has for the initializer.
public func CLLocationCoordinate2DMake(
    _ latitude: CLLocationDegrees, _ longitude: CLLocationDegrees
) -> CLLocationCoordinate2D {
    CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
}

/// Whether a coordinate is on the earth.
public func CLLocationCoordinate2DIsValid(_ coordinate: CLLocationCoordinate2D) -> Bool {
    (-90...90).contains(coordinate.latitude) && (-180...180).contains(coordinate.longitude)
}

/// An area; two are equal when their identifiers are.
open class CLRegion: NSObject, NSCopying, NSSecureCoding {
    /// The archived form of a region.
    struct Archive: Codable {
        var identifier: String
        var notifyOnEntry: Bool
        var notifyOnExit: Bool
        var latitude: Double?
        var longitude: Double?
        var radius: Double?
        var beacon: CLBeaconRegion.Beacon?
    }

    /// The region's name within the app.
    public let identifier: String
    /// Whether entering counts.
    open var notifyOnEntry = true
    /// Whether leaving counts.
    open var notifyOnExit = true

    init(identifier: String) { self.identifier = identifier }

    /// Reads an archive of this module; `nil` for another one.
    public required init?(coder: NSCoder) {
        guard let archive = ValueCoding.decode(Archive.self, with: coder) else { return nil }
        identifier = archive.identifier
        notifyOnEntry = archive.notifyOnEntry
        notifyOnExit = archive.notifyOnExit
    }

    /// Archives it.
    open func encode(with coder: NSCoder) { ValueCoding.encode(archive, with: coder) }

    /// Always true.
    public class var supportsSecureCoding: Bool { true }

    var archive: Archive {
        Archive(identifier: identifier, notifyOnEntry: notifyOnEntry, notifyOnExit: notifyOnExit)
    }

    /// A region of its own with the same values.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = duplicate()
        copy.notifyOnEntry = notifyOnEntry
        copy.notifyOnExit = notifyOnExit
        return copy
    }

    func duplicate() -> CLRegion { CLRegion(identifier: identifier) }

    /// Whether the other is a region with the same identifier.
    open override func isEqual(_ object: Any?) -> Bool { (object as? CLRegion)?.identifier == identifier }
    /// The same for equal regions.
    open override var hash: Int { identifier.hashValue }
}

/// A circle on the earth.
open class CLCircularRegion: CLRegion {
    /// The center of the circle.
    public let center: CLLocationCoordinate2D
    /// The radius in metres; never negative.
    public let radius: CLLocationDistance

    /// A radius that is negative or no number counts as 0.
    public init(center: CLLocationCoordinate2D, radius: CLLocationDistance, identifier: String) {
        self.center = center
        self.radius = radius > 0 ? radius : 0
        super.init(identifier: identifier)
    }

    /// Reads an archive of this module; `nil` for another one.
    public required init?(coder: NSCoder) {
        guard let archive = ValueCoding.decode(Archive.self, with: coder), let latitude = archive.latitude,
            let longitude = archive.longitude, let radius = archive.radius
        else { return nil }
        center = CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
        self.radius = radius > 0 ? radius : 0
        super.init(coder: coder)
    }

    override var archive: Archive {
        var archive = super.archive
        archive.latitude = center.latitude
        archive.longitude = center.longitude
        archive.radius = radius
        return archive
    }

    override func duplicate() -> CLRegion {
        CLCircularRegion(center: center, radius: radius, identifier: identifier)
    }

    /// Whether a place is inside or on the edge, measured along the great circle of a sphere of 6,371,008.8 m.
    open func contains(_ coordinate: CLLocationCoordinate2D) -> Bool {
        GreatCircle.distance(from: center, to: coordinate).map { $0 <= radius } ?? false
    }
}
