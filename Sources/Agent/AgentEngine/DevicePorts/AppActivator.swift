/// Brings apps to the front over the session bus, which starts those that do not run; a port.
package protocol AppActivator: Sendable {
    /// Calls `Activate` of the app's org.freedesktop.Application (Desktop Entry Specification, "D-Bus Activation").
    ///
    /// Returns at once. `complete` is called exactly once on any thread, within half a minute even without an answer;
    /// after the presenter's end not at all.
    func activate(_ activation: AppActivation, then complete: @escaping @Sendable (AppActivationOutcome) -> Void)
}

/// The app to bring to the front.
package struct AppActivation: Hashable, Sendable {
    /// A valid bus name, which is that of the desktop file too.
    package var busName: String
    /// The XDG activation token with which the app may take the focus.
    package var token: String?

    /// The object that the name's owner has: dots become slashes, and what paths cannot hold becomes `_`.
    package var path: String {
        "/" + busName.replacing(".", with: "/").replacing("-", with: "_")
    }

    /// An activation without a token leaves the focus where it is.
    ///
    /// - Parameter busName: Must be valid, see `BusName.isValid(_:)`.
    package init(busName: String, token: String?) {
        self.busName = busName
        self.token = token
    }
}

/// The outcome of an activation.
package enum AppActivationOutcome: Hashable, Sendable {
    /// The app runs and has received the call.
    case activated
    /// The app does not run, and the bus cannot start it, for this reason: it can be started by other means at once.
    case notStarted(reason: String)
    /// The app did not answer, for this reason; it may run all the same, or be starting.
    case unanswered(reason: String)
}
