/// An app's requests for its device token, and what it was told of it: a value.
///
/// Guarantees: each request is answered once; at most ``limit`` wait; an app that did not ask hears of a token only where it
/// knows another, or was told that there is none.
package struct DeviceTokenRequests: Sendable {
    /// How many requests may wait.
    package static let limit = 64

    /// What follows from a request.
    package enum Outcome: Hashable, Sendable {
        /// It is answered with the token that is known.
        case known(String)
        /// It waits for the server.
        case waits
        /// There is no server that would answer.
        case noServer
        /// As many wait as may.
        case tooMany
    }

    private var waiting: [Int64] = []
    /// The token that the app was told on this connection.
    private var told: String?
    /// Whether it was told that the server refuses it a token.
    private var wasRefused = false
    /// Whether the token that the store has ends, or has ended: the app asked for that, and another one is not there yet.
    private var isEnding = false

    /// The app has asked for nothing.
    package init() {}

    /// The app has connected: what it asked and was told over an earlier connection is forgotten.
    package mutating func connected() { (waiting, told) = ([], nil) }

    /// The app's connection is over: nobody waits.
    package mutating func disconnected() { waiting = [] }

    /// The app asks.
    ///
    /// - Parameter known: The token that the store has; `nil` for none.
    package mutating func ask(_ request: Int64, known: String?, hasServer: Bool) -> Outcome {
        if let known, !isEnding {
            told = known
            return .known(known)
        }
        guard hasServer else { return .noServer }
        guard waiting.count < Self.limit else { return .tooMany }
        waiting.append(request)
        return .waits
    }

    /// The app ends its registration.
    ///
    /// - Returns: The waiting requests, which are refused because the registration ends.
    package mutating func end() -> [Int64] {
        defer { (waiting, told, isEnding) = ([], nil, true) }
        return waiting
    }

    /// The server has forgotten the token.
    package mutating func ended() { isEnding = false }

    /// The server gave a token.
    ///
    /// - Returns: The requests that it answers; one `nil` where the app hears of it unasked.
    package mutating func received(_ token: String) -> [Int64?] {
        let isNews = told.map { $0 != token } ?? wasRefused
        let answers: [Int64?] = waiting.isEmpty && isNews ? [nil] : waiting
        if !answers.isEmpty { told = token }
        (waiting, wasRefused, isEnding) = ([], false, false)
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
