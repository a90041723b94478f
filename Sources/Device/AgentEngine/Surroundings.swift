import DeviceModel
import PushModel

/// What is known of the person's surroundings: the lock of the screen and the quiet hours.
package struct Surroundings: Sendable {
    /// Whether the screen is locked; `nil` until the desktop has said so.
    private var screenLock: Bool?
    /// When only what is time-sensitive or critical comes to the screen; `nil` for never.
    package var quietHours: QuietHours?

    init(quietHours: QuietHours?) { self.quietHours = quietHours }

    /// Whether the screen is locked, as far as is known.
    package var isScreenLocked: Bool { screenLock ?? false }

    /// Whether the desktop has said how the screen is.
    package var isScreenKnown: Bool { screenLock != nil }

    /// Whether an instant is within the quiet hours.
    func isQuietTime(at instant: Timestamp) -> Bool { quietHours?.contains(instant) ?? false }

    /// The desktop has said how the screen is.
    ///
    /// - Returns: Whether that is a change.
    mutating func screenChanged(isLocked: Bool) -> Bool {
        defer { screenLock = isLocked }
        return isScreenLocked != isLocked
    }
}
