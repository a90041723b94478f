/// A fault that a test has set: the requests that it is for, and what happens to them.
package struct Fault: Sendable {
    /// An action on a request.
    package enum Action: String, Sendable, CaseIterable {
        /// The request gets another answer, and is not processed.
        case answer
        /// The connection ends with GOAWAY (RFC 9113, section 6.8).
        case goAway = "goaway"
        /// The stream is reset with REFUSED_STREAM.
        case refuseStream = "refuse-stream"
        /// The connection's peer may open one stream at a time from now on; the request is processed.
        case oneStream = "settings-one-stream"
        /// The connection is closed in the middle of the request.
        case cut
        /// The request gets no answer.
        case silence
        /// The request is processed after a delay.
        case delay
        /// The next connections are shown a certificate that has expired.
        case expiredCertificate = "expired-certificate"
    }

    /// The requests that a fault is for: those that have every value that is set.
    package struct Selection: Hashable, Sendable {
        /// The interface.
        package var interface: ReceivedRequest.Interface?
        /// The token.
        package var token: String?
        /// The app.
        package var app: String?
        /// The sender's team.
        package var team: String?
        /// The namespace.
        package var namespace: String?
        /// The beginning of the path.
        package var path: String?
        /// The number of the connection.
        package var connection: Int?

        /// Makes a selection of every request.
        package init() {}

        func fits(_ content: ReceivedRequest.Content, _ parties: ReceivedRequest.Parties) -> Bool {
            func equals<Value: Equatable>(_ wanted: Value?, _ value: Value?) -> Bool {
                wanted == nil || wanted == value
            }
            return equals(interface, content.interface) && equals(token, parties.token) && equals(app, parties.app)
                && equals(team, parties.team) && equals(namespace, parties.namespace)
                && (path.map(content.path.hasPrefix) ?? true) && equals(connection, content.connection)
        }
    }

    /// The requests of a selection that get it.
    package struct Pace: Hashable, Sendable {
        /// The number of requests at first that do not get it.
        package var skip = 0
        /// The number of requests that get it; 0 for all.
        package var times = 1
        /// The part of the requests that get it, 0 to 1.
        package var rate = 1.0
        /// The seed of the choice that `rate` makes.
        package var seed: UInt64 = 1

        /// Makes the pace of the first request alone.
        package init() {}
    }

    /// A response that is sent instead of the request's own.
    package struct Reply: Hashable, Sendable {
        /// The status.
        package var status: Int
        /// The reason, in APNs' or FCM's own name; `nil` for the usual one of the status.
        package var reason: String?
        /// The value of `Retry-After`, in seconds.
        package var retryAfter: Int?

        /// Makes a reply.
        package init(status: Int, reason: String?, retryAfter: Int?) {
            self.status = status
            self.reason = reason
            self.retryAfter = retryAfter
        }
    }

    /// The number by which it is named.
    package internal(set) var number = 0
    /// The requests that it is for.
    package var selection = Selection()
    /// The ones of them that get it.
    package var pace = Pace()
    /// The action on them.
    package var action = Action.answer
    /// The reply of ``Action/answer``.
    package var reply: Reply?
    /// The milliseconds before anything happens.
    package var delay = 0
    /// Whether the request is left unprocessed by an action that ends its stream.
    package var isUnprocessed = true
    /// The number of requests that the selection fitted.
    package internal(set) var matched = 0
    /// The number of requests that got it.
    package internal(set) var used = 0
    private var random: UInt64?

    /// Makes a fault for the next request, without an action's details.
    package init() {}

    /// The fault of a request that gets no answer.
    static var silence: Fault {
        var fault = Fault()
        fault.action = .silence
        return fault
    }

    /// Whether every request that was to get it has got it.
    package var isSpent: Bool { pace.times > 0 && used >= pace.times }

    /// Counts a request of the selection, and decides whether it gets the fault.
    mutating func take() -> Bool {
        guard !isSpent else { return false }
        matched += 1
        guard matched > pace.skip else { return false }
        if pace.rate < 1 {
            guard Double(nextRandom() >> 11) * 0x1p-53 < pace.rate else { return false }
        }
        used += 1
        return true
    }

    /// The next number of the seed's sequence (SplitMix64).
    private mutating func nextRandom() -> UInt64 {
        let state = (random ?? pace.seed) &+ 0x9E37_79B9_7F4A_7C15
        random = state
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
