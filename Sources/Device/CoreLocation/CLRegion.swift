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

    public init() { self.init(latitude: 0, longitude: 0) }

    public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// Whether a coordinate is on the earth.
public func CLLocationCoordinate2DIsValid(_ coordinate: CLLocationCoordinate2D) -> Bool {
    (-90...90).contains(coordinate.latitude) && (-180...180).contains(coordinate.longitude)
}

/// An area; two are equal when their identifiers are.
open class CLRegion: NSObject, NSCopying {
    public let identifier: String
    /// Whether entering counts.
    open var notifyOnEntry = true
    /// Whether leaving counts.
    open var notifyOnExit = true

    init(identifier: String) { self.identifier = identifier }

    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = duplicate()
        copy.notifyOnEntry = notifyOnEntry
        copy.notifyOnExit = notifyOnExit
        return copy
    }

    func duplicate() -> CLRegion { CLRegion(identifier: identifier) }

    open override func isEqual(_ object: Any?) -> Bool { (object as? CLRegion)?.identifier == identifier }
    open override var hash: Int { identifier.hashValue }
}

/// A circle on the earth.
open class CLCircularRegion: CLRegion {
    public let center: CLLocationCoordinate2D
    /// In metres; never negative.
    public let radius: CLLocationDistance

    /// A radius that is negative or no number counts as 0.
    public init(center: CLLocationCoordinate2D, radius: CLLocationDistance, identifier: String) {
        self.center = center
        self.radius = radius > 0 ? radius : 0
        super.init(identifier: identifier)
    }

    override func duplicate() -> CLRegion {
        CLCircularRegion(center: center, radius: radius, identifier: identifier)
    }

    /// Whether a place is inside or on the edge, measured along the great circle of a sphere of 6,371,008.8 m.
    open func contains(_ coordinate: CLLocationCoordinate2D) -> Bool {
        guard CLLocationCoordinate2DIsValid(coordinate), CLLocationCoordinate2DIsValid(center) else { return false }
        func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
        let latitudes = sin(radians(coordinate.latitude - center.latitude) / 2)
        let longitudes = sin(radians(coordinate.longitude - center.longitude) / 2)
        let haversine =
            latitudes * latitudes
            + cos(radians(center.latitude)) * cos(radians(coordinate.latitude)) * longitudes * longitudes
        return 2 * 6_371_008.8 * asin(min(1, haversine.squareRoot())) <= radius
    }
}
