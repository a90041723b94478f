/// An app's requests for its device token and for the token's end, and the answers that it got: a value.
///
/// Guarantees: each request is answered once, and at most ``limit`` of each kind wait. An app that did not ask receives
/// a token only where it has another, or was refused one. A request that comes after one to end the token gets a new
/// token, unless the server could not be asked to end it.
package struct DeviceTokenRequests: Sendable {
    /// How many requests of a kind may wait.
    package static let limit = 64

    /// The outcome of a request.
    package enum Outcome: Hashable, Sendable {
        /// The request is answered with the token that is known.
        case known(String)
        /// The request waits for the server, which is to be asked.
        case waits
        /// The request waits until the token that there is has ended; then the server is to be asked.
        case waitsForEnd
        /// There is no server that would answer.
        case noServer
        /// Too many requests wait already.
        case tooMany
    }

    /// The outcome of a request to end the registration.
    package struct End: Hashable, Sendable {
        /// The requests for it that are answered.
        package var requests: [Int64]
        /// Whether requests for a token waited for it: the server is to be asked for one.
        package var isTokenWanted: Bool

        /// Creates an outcome.
        package init(requests: [Int64], isTokenWanted: Bool) {
            self.requests = requests
            self.isTokenWanted = isTokenWanted
        }
    }

    /// The end of the token that the store has.
    private enum Ending {
        case unwanted
        /// The server is asked for it.
        case asked
        /// The server could not be asked yet, which the app knows.
        case delayed
    }

    private var waiting: [Int64] = []
    /// The requests to end the token.
    private var endRequests: [Int64] = []
    /// The token that was sent to the app on this connection.
    private var told: String?
    /// Whether the app was notified that the server refuses it a token.
    private var wasRefused = false
    private var ending = Ending.unwanted

    /// Whether the server was asked to end the token, and has not answered yet.
    package var isEnding: Bool { ending == .asked }

    /// The app has asked for nothing.
    package init() {}

    /// The app has connected: requests and answers of an earlier connection are forgotten.
    package mutating func connected() { (waiting, endRequests, told) = ([], [], nil) }

    /// The app's connection is over: no request waits.
    package mutating func disconnected() { (waiting, endRequests) = ([], []) }

    /// Handles a request of the app for its token.
    ///
    /// - Parameter known: The token in the store; `nil` for none.
    package mutating func ask(_ request: Int64, known: String?, hasServer: Bool) -> Outcome {
        if let known, ending == .unwanted {
            told = known
            return .known(known)
        }
        guard hasServer else { return .noServer }
        guard waiting.count < Self.limit else { return .tooMany }
        waiting.append(request)
        return ending == .asked ? .waitsForEnd : .waits
    }

    /// The app ends its registration.
    ///
    /// - Returns: The waiting requests for a token, which are refused because the registration ends; `nil` where as
    ///   many requests to end it wait as may, and nothing has changed.
    package mutating func end(_ request: Int64) -> [Int64]? {
        guard endRequests.count < Self.limit else { return nil }
        endRequests.append(request)
        defer { (waiting, told, ending) = ([], nil, .asked) }
        return waiting
    }

    /// The server has forgotten the token.
    package mutating func completeEndRequests() -> End { end(as: .unwanted) }

    /// The server has not forgotten the token.
    ///
    /// - Parameter isRefused: Whether it refuses that, so that the token stays; else it could not be asked, and is
    ///   asked again.
    package mutating func failEndRequests(isRefused: Bool) -> End { end(as: isRefused ? .unwanted : .delayed) }

    private mutating func end(as outcome: Ending) -> End {
        // Requests that came after it was known that the end is delayed have asked the server themselves.
        let isTokenWanted = ending == .asked && !waiting.isEmpty
        defer { (endRequests, ending) = ([], outcome) }
        return End(requests: endRequests, isTokenWanted: isTokenWanted)
    }

    /// The server gave a token.
    ///
    /// - Returns: The requests that it answers; one `nil` where the app gets it without having asked.
    package mutating func received(_ token: String) -> [Int64?] {
        let isNews = told.map { $0 != token } ?? wasRefused
        let answers: [Int64?] = waiting.isEmpty && isNews ? [nil] : waiting
        if !answers.isEmpty { told = token }
        (waiting, wasRefused, ending) = ([], false, .unwanted)
        return answers
    }

    /// The server refuses a token.
    ///
    /// - Returns: The requests that this answers.
    package mutating func refused() -> [Int64] {
        defer { waiting = [] }
        if !waiting.isEmpty { wasRefused = true }
        return waiting
    }
}
