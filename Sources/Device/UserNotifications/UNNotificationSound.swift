import Foundation

/// The name of a sound file.
public struct UNNotificationSoundName: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(_ rawValue: String) { self.rawValue = rawValue }
}

/// What is heard with a notification. Immutable.
public final class UNNotificationSound: NSObject, NSCopying, Sendable {
    /// The file's name; `nil` for the system's own sound.
    let name: UNNotificationSoundName?

    private init(name: UNNotificationSoundName?) { self.name = name }

    /// A sound file of the app.
    public convenience init(named name: UNNotificationSoundName) { self.init(name: name) }

    /// The system's sound for notifications.
    public class var `default`: UNNotificationSound { UNNotificationSound(name: nil) }

    public func copy(with zone: NSZone? = nil) -> Any { self }
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? UNNotificationSound)?.name == name && object is UNNotificationSound
    }
    public override var hash: Int { name.hashValue }
}
