import PushCore

extension AutopushSession {
    /// A client's report of a message.
    package struct Receipt: Hashable, Sendable {
        /// The message.
        package var id: NotificationID
        /// The outcome.
        package var outcome: Outcome

        /// Takes the parts.
        package init(id: NotificationID, outcome: Outcome) {
            self.id = id
            self.outcome = outcome
        }
    }

    /// The outcome of a message at the client.
    package enum Outcome: Hashable, Sendable {
        /// The page's service worker was given the message (code 100).
        case delivered
        /// The client could not decrypt the message (101).
        case notDecrypted
        /// The client had no page to give the message to (102).
        case notDelivered
        /// The page's service worker failed (301 to 303), with the code.
        case workerFailed(Int64)
    }

    /// Why a connection ends.
    package enum Reason: Hashable, Sendable {
        /// A message was not as it must be; a sentence about it.
        case violation(String)
        /// No `hello` in time, or no answer to a ping.
        case timeout
        /// A newer connection of the same client has taken its place.
        case superseded
        /// The device was revoked or blocked.
        case revoked
        /// The server stops.
        case stopping
        /// The server's store does not answer.
        case unavailable
        /// The client closed the connection.
        case closedByClient

        /// The status code of the WebSocket (RFC 6455, section 7.4) and the text beside it.
        package var closing: (code: UInt16, text: String) {
            switch self {
            case .violation(let text): (1008, text)
            case .timeout: (1001, "timeout")
            case .superseded: (1000, "a newer connection of this client is open")
            case .revoked: (1008, "the client is not served any more")
            case .stopping: (1001, "the server stops; connect again")
            case .unavailable: (1013, "try again later")
            case .closedByClient: (1000, "")
            }
        }
    }

    /// The result of ``Directive/open(_:)``.
    package enum Opening: Hashable, Sendable {
        /// The client is served under this id.
        case opened(PushClientID)
        /// The id is new, and not stored until the client's first subscription.
        case drawn(PushClientID)
        /// The client is not served; a sentence says why.
        case refused(String)
        /// The server could not decide.
        case unavailable
    }

    /// The result of ``Directive/register(_:key:)``.
    package enum Registration: Hashable, Sendable {
        /// The subscription is stored, with this address. A client whose id was new is served from now on.
        case registered(PushChannelID, address: String)
        /// The subscription is refused, with a status and a sentence.
        case refused(PushChannelID, status: Int, reason: String)
        /// The store does not answer.
        case unavailable
    }
}
