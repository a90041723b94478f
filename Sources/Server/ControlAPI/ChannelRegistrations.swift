import PushServer

/// Subscriptions of Web Push that devices make over `POST /c2dm/register3`.
package struct ChannelRegistrations: Sendable {
    /// Makes and ends the subscriptions.
    package var enrolment: BrowserEnrolment
    /// The address at which senders reach the server, such as `https://push.example:8443`; `nil` for the one at which the device has
    /// reached it.
    package var address: String?

    /// Creates an instance from its properties.
    package init(enrolment: BrowserEnrolment, address: String?) {
        self.enrolment = enrolment
        self.address = address
    }
}
