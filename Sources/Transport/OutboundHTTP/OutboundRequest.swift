/// One request to another server.
package struct OutboundRequest: Sendable {
    /// The method; POST unless it is said otherwise.
    package var method = "POST"
    /// The address, read by whoever makes the request.
    package var url: String
    /// The fields, in their order.
    package var headers: [(name: String, value: String)]
    /// The body.
    package var body: [UInt8]
    /// How long the whole exchange may take.
    package var patience = Duration.seconds(10)

    /// Makes a request.
    package init(url: String, headers: [(name: String, value: String)], body: [UInt8]) {
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// What another server answered.
package struct OutboundAnswer: Sendable {
    /// The status.
    package var status: Int
    /// The fields by their names in lower case; of several of a name the first.
    package var headers: [String: String]
    /// The body, 64 KiB at most.
    package var body: [UInt8]

    /// Brings the parts together.
    package init(status: Int, headers: [String: String], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// What `Retry-After` says in seconds, in milliseconds, a day at most; `nil` for a date, and where it is missing.
    package var retryAfter: Int64? {
        headers["retry-after"].flatMap { Int64($0) }.flatMap { $0 >= 0 ? min($0, 86_400) * 1000 : nil }
    }
}

/// Why another server could not be asked.
package struct OutboundFailure: Error, Hashable, CustomStringConvertible {
    /// In words, for the log; nothing of the request's fields or body.
    package let description: String
    /// Whether the address is refused for good, so that asking again cannot help.
    package let isForbidden: Bool

    /// With these words.
    package init(_ description: String, isForbidden: Bool = false) {
        self.description = description
        self.isForbidden = isForbidden
    }
}
