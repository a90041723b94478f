import PushCore

/// This device's id and secret.
package struct DeviceIdentity: Hashable, Sendable {
    /// The id that the server gave.
    package var device: DeviceID
    /// The secret that authenticates the device at login.
    @Secret package var secret: UInt64

    /// Creates an identity from the server's answer to the enrolment.
    ///
    /// - Parameters:
    ///   - device: The id that the server gave.
    /// - secret: The secret that authenticates the device at login; never logged.
    package init(device: DeviceID, secret: UInt64) {
        self.device = device
        self.secret = secret
    }
}

// Neither a log nor a dump of what holds one shows the secret.
extension DeviceIdentity: CustomStringConvertible, CustomReflectable {
    package var description: String { "device \(device)" }
    /// The device's id alone, so that `dump` shows no secret.
    package var customMirror: Mirror { Mirror(self, children: ["device": device]) }
}
