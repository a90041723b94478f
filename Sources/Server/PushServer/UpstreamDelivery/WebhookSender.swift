import Networking

/// Sends one message to a webhook; the port of the courier.
package protocol WebhookSender: Sendable {
    /// Sends a body with its signature, and waits for the status.
    ///
    /// - Throws: ``WebhookUnreachable``.
    func send(_ body: [UInt8], signature: String, to address: WebhookAddress) async throws -> Int
}

/// The reason why a webhook could not be reached.
package struct WebhookUnreachable: Error, Hashable, CustomStringConvertible {
    /// A description for the log; no secret and nothing of the message.
    package let description: String

    /// Creates the error with a description.
    package init(_ description: String) { self.description = description }
}

/// Connects to public addresses, and to those that a list allows. The address that was checked is the one that is
/// connected to. Follows no redirect. Plain http is for allowed addresses only.
package struct GuardedWebhookSender: WebhookSender {
    private let http: GuardedHTTP
    private let identity: GuardedHTTP.Identity

    /// Creates a sender.
    ///
    /// - Parameters:
    ///   - http: The client that connects, and checks addresses.
    ///   - authority: Certificates in PEM that are trusted instead of the system's.
    package init(_ http: GuardedHTTP, authority: String? = nil) {
        self.http = http
        identity = GuardedHTTP.Identity(authority: authority)
    }

    /// Sends the body as JSON.
    package func send(_ body: [UInt8], signature: String, to address: WebhookAddress) async throws -> Int {
        let request = OutboundRequest(
            url: address.description,
            headers: [
                ("content-type", "application/json"), ("user-agent", "aldaba-webhook/1"),
                (WebhookSignature.field, signature),
            ], body: body)
        do { return try await http.send(request, as: identity).status } catch {
            throw WebhookUnreachable("\(error)")
        }
    }
}
