import PushCore

/// The state of the person's surroundings: the lock of the screen and the quiet hours.
package struct ScreenAndQuietHours: Sendable {
    /// Whether the screen is locked; `nil` until the desktop has reported it.
    private var screenLock: Bool?
    /// When only what is time-sensitive or critical comes to the screen; `nil` for never.
    package var quietHours: QuietHours?

    init(quietHours: QuietHours?) { self.quietHours = quietHours }

    /// Whether the screen is locked, as far as is known.
    package var isScreenLocked: Bool { screenLock ?? false }

    /// Whether the desktop has reported the state of the screen.
    package var isScreenKnown: Bool { screenLock != nil }

    /// Whether an instant is within the quiet hours.
    func isQuietTime(at instant: Timestamp) -> Bool { quietHours?.contains(instant) ?? false }

    /// The desktop has reported the state of the screen.
    ///
    /// - Returns: Whether that is a change.
    mutating func screenChanged(isLocked: Bool) -> Bool {
        defer { screenLock = isLocked }
        return isScreenLocked != isLocked
    }
}
