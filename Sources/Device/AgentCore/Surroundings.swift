import DeviceModel
import PushModel

/// What is known of the person's surroundings: the screen, the focus, and when they want to be disturbed.
struct Surroundings: Sendable {
    /// What is known of the focus.
    enum Focus: Hashable, Sendable {
        /// No app wants to know.
        case unwatched
        /// The process of the window that has it, and those that it comes from; empty where none has it.
        case on([Int32])
        /// Nobody can tell: such apps are where they say.
        case unknown
    }

    /// Whether the screen is locked; `nil` until the desktop has said so.
    private var screenLock: Bool?
    var focus = Focus.unwatched
    /// When the person wants to be disturbed by urgent things only.
    var quietHours: QuietHours?

    init(quietHours: QuietHours?) { self.quietHours = quietHours }

    /// Whether the screen is locked, as far as is known.
    var isScreenLocked: Bool { screenLock ?? false }

    /// Whether the desktop has said how the screen is.
    var isScreenKnown: Bool { screenLock != nil }

    /// Whether only urgent things may disturb at an instant.
    func isQuietTime(at instant: Timestamp) -> Bool { quietHours?.contains(instant) ?? false }

    /// The desktop has said how the screen is.
    ///
    /// - Returns: Whether that is a change.
    mutating func screenChanged(isLocked: Bool) -> Bool {
        defer { screenLock = isLocked }
        return isScreenLocked != isLocked
    }
}
