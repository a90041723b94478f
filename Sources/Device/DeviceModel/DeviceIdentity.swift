import PushModel

/// This device's id and secret.
package struct DeviceIdentity: Hashable, Sendable {
    /// The id that the server gave.
    package var device: DeviceID
    /// What proves at login that this is the device.
    @Secret package var secret: UInt64

    /// What the server gave at the enrolment.
    ///
    /// - Parameters:
    ///   - device: The id that the server gave.
    ///   - secret: What proves at login that this is the device; never logged.
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
