import Foundation

/// Metres; negative where it is not known.
public typealias CLLocationAccuracy = Double
/// Metres a second; negative where it is not known.
public typealias CLLocationSpeed = Double
/// Degrees from true north, clockwise; negative where it is not known.
public typealias CLLocationDirection = Double

/// A coordinate that is on no place of the earth.
public let kCLLocationCoordinate2DInvalid = CLLocationCoordinate2D(latitude: -180, longitude: -180)

/// A position and the time at which it was measured. Immutable.
///
/// Sendable is unchecked because the class is open. It has only constants, of value types or of immutable classes. A
/// subclass with variables of its own must ensure that it is safe.
open class CLLocation: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    private struct Values: Codable, Hashable {
        var latitude: Double
        var longitude: Double
        var altitude = 0.0
        var horizontalAccuracy = 0.0
        var verticalAccuracy = -1.0
        var course = -1.0
        var speed = -1.0
        var timestamp: Date
    }

    private let values: Values

    private init(values: Values) { self.values = values }

    /// A place, exactly, now.
    public convenience init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.init(values: Values(latitude: latitude, longitude: longitude, timestamp: Date()))
    }

    /// A place at a moment, as exactly as it is known.
    public convenience init(
        coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
        horizontalAccuracy hAccuracy: CLLocationAccuracy,
        verticalAccuracy vAccuracy: CLLocationAccuracy, timestamp: Date
    ) {
        self.init(
            values: Values(
                latitude: coordinate.latitude, longitude: coordinate.longitude, altitude: altitude,
                horizontalAccuracy: hAccuracy, verticalAccuracy: vAccuracy, timestamp: timestamp))
    }

    /// A place at a moment, with the movement there.
    public convenience init(
        coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
        horizontalAccuracy hAccuracy: CLLocationAccuracy,
        verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection, speed: CLLocationSpeed,
        timestamp: Date
    ) {
        self.init(
            values: Values(
                latitude: coordinate.latitude, longitude: coordinate.longitude, altitude: altitude,
                horizontalAccuracy: hAccuracy, verticalAccuracy: vAccuracy, course: course, speed: speed,
                timestamp: timestamp))
    }

    /// Reads an archive of this module; `nil` for another one.
    public required init?(coder: NSCoder) {
        guard let values = ValueCoding.decode(Values.self, with: coder) else { return nil }
        self.values = values
    }

    /// Archives it.
    open func encode(with coder: NSCoder) { ValueCoding.encode(values, with: coder) }

    /// Always true.
    public class var supportsSecureCoding: Bool { true }

    /// The position in degrees.
    open var coordinate: CLLocationCoordinate2D {
        CLLocationCoordinate2D(latitude: values.latitude, longitude: values.longitude)
    }
    /// Metres above the sea.
    open var altitude: CLLocationDistance { values.altitude }
    /// How far off the coordinate may be.
    open var horizontalAccuracy: CLLocationAccuracy { values.horizontalAccuracy }
    /// How far off the altitude may be.
    open var verticalAccuracy: CLLocationAccuracy { values.verticalAccuracy }
    /// The direction of travel, in degrees.
    open var course: CLLocationDirection { values.course }
    /// How fast it went.
    open var speed: CLLocationSpeed { values.speed }
    /// When.
    open var timestamp: Date { values.timestamp }

    /// How far away another place is, along the great circle of a sphere of 6,371,008.8 m; negative where one of the
    /// two is on no place of the earth.
    open func distance(from location: CLLocation) -> CLLocationDistance {
        GreatCircle.distance(from: coordinate, to: location.coordinate) ?? -1
    }

    /// Itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }
    /// Whether the other is the same place at the same moment.
    open override func isEqual(_ object: Any?) -> Bool { (object as? CLLocation)?.values == values }
    /// The same for equal locations.
    open override var hash: Int { values.hashValue }
}

/// Distances on the earth, taken for a sphere.
enum GreatCircle {
    /// `nil` where one of the two is on no place of the earth.
    static func distance(from one: CLLocationCoordinate2D, to other: CLLocationCoordinate2D) -> CLLocationDistance? {
        guard CLLocationCoordinate2DIsValid(one), CLLocationCoordinate2DIsValid(other) else { return nil }
        func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
        let latitudes = sin(radians(other.latitude - one.latitude) / 2)
        let longitudes = sin(radians(other.longitude - one.longitude) / 2)
        let haversine =
            latitudes * latitudes
            + cos(radians(one.latitude)) * cos(radians(other.latitude)) * longitudes * longitudes
        return 2 * 6_371_008.8 * asin(min(1, haversine.squareRoot()))
    }
}

/// How the classes of this module are archived: a value as JSON, under one key. The layout is not Apple's.
enum ValueCoding {
    private static let key = "aldaba"

    static func encode(_ value: some Encodable, with coder: NSCoder) {
        // An archive without a value (JSON has no infinite number) is read as none.
        if let json = try? JSONEncoder().encode(value) { coder.encode(json as NSData, forKey: key) }
    }

    static func decode<Value: Decodable>(_ type: Value.Type, with coder: NSCoder) -> Value? {
        guard coder.containsValue(forKey: key), let data = coder.decodeObject(of: NSData.self, forKey: key) else {
            return nil
        }
        return try? JSONDecoder().decode(type, from: data as Data)
    }
}
