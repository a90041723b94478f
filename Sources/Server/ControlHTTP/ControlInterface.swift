import Hummingbird

/// An interface whose routes stand beside the control API's, on the same listeners: FCM's, the hub's.
package protocol ControlInterface: Sendable {
    /// Adds the interface's routes.
    ///
    /// The listener's own middleware stands before them: errors are answered as ``ControlError`` says, connections
    /// that were served are proven, and plain http is for loopback only.
    ///
    /// - Parameter isSecured: `false` on the development listener, whose callers may act for every team.
    func add(to router: Router<ControlContext>, isSecured: Bool)
}
