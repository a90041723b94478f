import AgentProtocol

/// The answer to a request about Live Activities.
package enum ActivityAnswer: Hashable, Sendable {
    /// It is done.
    case accepted
    /// It is refused: a code of ``ActivityFault``, and a sentence.
    case refused(code: String, message: String)
    /// No agent is connected: the request is repeated on the next connection, and answered then.
    case delayed
}

// Live Activities: their events come on every connection once the app has asked for them.

extension AppSession {
    mutating func observeActivities() {
        connection.observesActivities = true
        send(.activity(.observe))
    }

    /// Asks for the activities on a new connection, after the requests that may start some.
    mutating func observeActivitiesAgain() {
        if connection.observesActivities { send(.activity(.observe)) }
    }

    mutating func received(_ event: ActivityEvent) {
        switch event {
        case .all, .changed, .startToken: directives.append(.tellActivities(event))
        case .accepted(let request):
            if answered(request) { directives.append(.answerActivity(request: request, .accepted)) }
        case .refused(let request, let code, let message):
            guard answered(request) else { break }
            directives.append(.answerActivity(request: request, .refused(code: code, message: message)))
        }
    }
}
