import Hummingbird

/// An interface whose routes are served on the control API's listeners: FCM's, the hub's.
package protocol ControlInterface: Sendable {
    /// Adds the interface's routes.
    ///
    /// The listener's own middleware runs before them: errors are converted as for ``ControlError``, connections that
    /// were served are proven, and plain http is for loopback only.
    ///
    /// - Parameter isSecured: `false` on the development listener, whose callers may act for every team.
    func add(to router: Router<ControlContext>, isSecured: Bool)
}
