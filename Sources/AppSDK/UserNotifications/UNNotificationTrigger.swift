import AgentProtocol
import Foundation

/// The condition under which a notification appears. Immutable.
///
/// Sendable is unchecked because the class is open; it and its subclasses have a value only that initializers set.
open class UNNotificationTrigger: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    /// The archived form of a trigger.
    enum Archive: Codable, Hashable {
        case push
        case asked(NotificationTrigger)
    }

    final var archive: Archive

    init(_ archive: Archive) { self.archive = archive }

    /// Reads an archive of this module; `nil` for another one.
    public required init?(coder: NSCoder) {
        guard let archive = WireCoding.decode(Archive.self, with: coder) else { return nil }
        self.archive = archive
    }

    /// Archives it.
    open func encode(with coder: NSCoder) { WireCoding.encode(archive, with: coder) }

    /// Always true.
    public class var supportsSecureCoding: Bool { true }

    /// Whether it fires again and again.
    open var repeats: Bool {
        switch archive {
        case .push: false
        case .asked(.timeInterval(_, let repeats)), .asked(.calendar(_, let repeats)),
            .asked(.region(_, let repeats)):
            repeats
        }
    }

    /// The trigger as it is sent to the agent; `nil` for one that no app can ask for.
    var wire: NotificationTrigger? {
        if case .asked(let trigger) = archive { trigger } else { nil }
    }

    /// The trigger for a description from the agent.
    static func made(of wire: NotificationTrigger) -> UNNotificationTrigger {
        switch wire {
        case .timeInterval: UNTimeIntervalNotificationTrigger(wire)
        case .calendar(let components, let repeats):
            UNCalendarNotificationTrigger(dateMatching: components, repeats: repeats)
        case .region: UNLocationNotificationTrigger(wire)
        }
    }

    /// Itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }
    /// Whether the other fires at the same times.
    open override func isEqual(_ object: Any?) -> Bool { (object as? UNNotificationTrigger)?.archive == archive }
    /// The same for equal triggers.
    open override var hash: Int { archive.hashValue }
    /// The object's class, address and values.
    open override var description: String {
        switch archive {
        case .push: describing(["repeats": repeats])
        case .asked(.timeInterval(let seconds, _)): describing(["repeats": repeats, "timeInterval": seconds])
        case .asked(.calendar(let components, _)): describing(["repeats": repeats, "dateComponents": components])
        case .asked(.region(let region, _)):
            describing([
                "repeats": repeats, "region": region.identifier, "latitude": region.latitude,
                "longitude": region.longitude, "radius": region.radius, "notifyOnEntry": region.onEntry,
                "notifyOnExit": region.onExit,
            ])
        }
    }
}

/// The trigger of every notification that came from a provider.
///
/// Sendable is unchecked because the class is open. Immutable, as its base class.
open class UNPushNotificationTrigger: UNNotificationTrigger, @unchecked Sendable {
    init() { super.init(.push) }

    /// Reads an archive of this module; `nil` for another one.
    public required init?(coder: NSCoder) { super.init(coder: coder) }
}

/// Fires when so much time has passed.
///
/// Sendable is unchecked because the class is open. Immutable, as its base class.
open class UNTimeIntervalNotificationTrigger: UNNotificationTrigger, @unchecked Sendable {
    /// A trigger of the agent's.
    convenience init(_ wire: NotificationTrigger) {
        self.init(timeInterval: 60, repeats: false)
        archive = .asked(wire)
    }

    /// Fires so many seconds after the notification is added, and again and again when it repeats.
    ///
    /// Ends the program, as on Apple's systems, when the interval is not greater than 0, or is shorter than 60
    /// seconds and repeats.
    public init(timeInterval: TimeInterval, repeats: Bool) {
        precondition(
            timeInterval > 0 && timeInterval.isFinite,
            "A notification's time interval must be greater than 0 seconds, not \(timeInterval).")
        precondition(
            !repeats || timeInterval >= 60,
            "A notification's time interval must be at least 60 seconds if it repeats, not \(timeInterval).")
        super.init(.asked(.timeInterval(seconds: timeInterval, repeats: repeats)))
    }

    /// Reads an archive of this module; `nil` for another one.
    public required init?(coder: NSCoder) { super.init(coder: coder) }

    /// The interval in seconds.
    open var timeInterval: TimeInterval {
        if case .asked(.timeInterval(let seconds, _)) = archive { seconds } else { 0 }
    }

    /// When it would fire if it were added now.
    open func nextTriggerDate() -> Date? { Date(timeIntervalSinceNow: timeInterval) }
}
