import AgentProtocol
import Foundation

/// The name of a sound file.
public struct UNNotificationSoundName: RawRepresentable, Hashable, Sendable {
    /// The name itself, with its extension.
    public let rawValue: String
    /// The name of a file.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The name of a file.
    public init(_ rawValue: String) { self.rawValue = rawValue }
}

/// The sound of a notification. Immutable.
///
/// Sendable is unchecked because the class is open; it has a value only that initializers set.
open class UNNotificationSound: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    private(set) final var wire: NotificationSound

    /// A sound file of the app.
    public init(named name: UNNotificationSoundName) { wire = NotificationSound(name: name.rawValue) }

    /// A sound file of the app, in Swift 4's spelling.
    @available(*, deprecated, message: "write UNNotificationSound(named: UNNotificationSoundName(…))")
    public convenience init(named name: String) { self.init(named: UNNotificationSoundName(name)) }

    convenience init(_ wire: NotificationSound) {
        self.init(named: UNNotificationSoundName(""))
        self.wire = wire
    }

    /// Reads an archive of this module; `nil` for another one.
    public required init?(coder: NSCoder) {
        guard let wire = WireCoding.decode(NotificationSound.self, with: coder) else { return nil }
        self.wire = wire
    }

    /// Archives it.
    open func encode(with coder: NSCoder) { WireCoding.encode(wire, with: coder) }

    /// Always true.
    public class var supportsSecureCoding: Bool { true }

    /// The system's sound for notifications.
    open class var `default`: UNNotificationSound { UNNotificationSound(NotificationSound()) }

    /// The system's sound, as a critical one; Linux does not guarantee that it is played when everything is muted.
    open class var defaultCritical: UNNotificationSound { UNNotificationSound(NotificationSound(isCritical: true)) }

    /// The sound for calls; on Linux the same as ``default``.
    open class var defaultRingtone: UNNotificationSound { .default }

    /// The system's sound, as a critical one, so loud: `0 ... 1`.
    open class func defaultCriticalSound(withAudioVolume volume: Float) -> UNNotificationSound {
        UNNotificationSound(NotificationSound(isCritical: true, volume: Self.volume(volume)))
    }

    /// A sound file of the app, as a critical one.
    open class func criticalSoundNamed(_ name: UNNotificationSoundName) -> UNNotificationSound {
        UNNotificationSound(NotificationSound(name: name.rawValue, isCritical: true))
    }

    /// A sound file of the app, as a critical one, so loud: `0 ... 1`.
    open class func criticalSoundNamed(
        _ name: UNNotificationSoundName, withAudioVolume volume: Float
    ) -> UNNotificationSound {
        UNNotificationSound(
            NotificationSound(name: name.rawValue, isCritical: true, volume: Self.volume(volume)))
    }

    /// A sound file of the app for calls; on Linux played like every other.
    open class func ringtoneSoundNamed(_ name: UNNotificationSoundName) -> UNNotificationSound {
        UNNotificationSound(named: name)
    }

    private static func volume(_ volume: Float) -> Double { volume > 0 ? min(1, Double(volume)) : 0 }

    /// Swift 3's spelling: `UNNotificationSound.default()`.
    @available(*, deprecated, message: "write .default without parentheses")
    public func callAsFunction() -> UNNotificationSound { self }

    /// Itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }
    /// Whether the other sounds the same.
    open override func isEqual(_ object: Any?) -> Bool { (object as? UNNotificationSound)?.wire == wire }
    /// The same for equal sounds.
    open override var hash: Int { wire.hashValue }
    /// The object's class, address and values.
    open override var description: String {
        describing(["name": wire.name, "isCritical": wire.isCritical, "volume": wire.volume])
    }
}
