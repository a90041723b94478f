/// A request to another server.
package struct OutboundRequest: Sendable {
    /// The method; by default POST.
    package var method = "POST"
    /// The URL, parsed by the sender of the request.
    package var url: String
    /// The fields, in their order.
    package var headers: [(name: String, value: String)]
    /// The body.
    package var body: [UInt8]
    /// The timeout for the whole exchange.
    package var timeout = Duration.seconds(10)

    /// Creates a request.
    package init(url: String, headers: [(name: String, value: String)], body: [UInt8]) {
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// The response of another server.
package struct OutboundResponse: Sendable {
    /// The status.
    package var status: Int
    /// The fields by their names in lower case; of repeated ones the first.
    package var headers: [String: String]
    /// The body, 64 KiB at most.
    package var body: [UInt8]

    /// Creates an instance from its properties.
    package init(status: Int, headers: [String: String], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The value of `Retry-After` in milliseconds, at most a day; `nil` for a date, and where it is missing.
    package var retryAfter: Int64? {
        headers["retry-after"].flatMap { Int64($0) }.flatMap { $0 >= 0 ? min($0, 86_400) * 1000 : nil }
    }
}

/// The reason why another server could not be reached.
package struct OutboundError: Error, Hashable, CustomStringConvertible {
    /// A description for the log; nothing of the request's fields or body.
    package let description: String
    /// Whether the address is refused for good, so that a retry cannot help.
    package let isForbidden: Bool

    /// Creates the failure with a description.
    package init(_ description: String, isForbidden: Bool = false) {
        self.description = description
        self.isForbidden = isForbidden
    }
}
