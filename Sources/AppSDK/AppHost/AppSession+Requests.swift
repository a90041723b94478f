import AgentProtocol

// Requests, which are asked again on every connection until they are answered, and the wish for a device token.

extension AppSession {
    mutating func ask(_ request: Int64, _ message: AppMessage, size: Int = 0) {
        let waiting = requests.reduce(0) { $0 + $1.size }
        guard app != nil, !connection.isSuperseded, requests.count < Self.requestLimit,
            size <= Self.requestSizeLimit - waiting
        else {
            return directives.append(.failRequest(request: request))
        }
        requests.append((request, message, size))
        send(message)
    }

    /// Whether the request waits for an answer, and is one to end the token.
    func isEnd(_ request: Int64) -> Bool { requests.contains { $0.request == request && $0.message.endsToken } }

    /// Fails the openings of addresses that have no answer: repeated on the next connection, an address might be opened
    /// twice.
    mutating func failOpenings() {
        for (request, message, _) in requests where message.isOpening {
            directives.append(.failRequest(request: request))
        }
        requests.removeAll { $0.message.isOpening }
    }

    mutating func opened(_ request: Int64, _ answer: OpeningAnswer) {
        guard answered(request) else { return }
        if case .refused(let why) = answer { report("an address is not opened: \(why)") }
        directives.append(.answerOpening(request: request, answer))
    }

    /// Whether the request waited for this answer; answers that are sent again are dropped.
    mutating func answered(_ request: Int64) -> Bool {
        guard let place = requests.firstIndex(where: { $0.request == request }) else { return false }
        requests.remove(at: place)
        return true
    }

    mutating func register(_ request: Int64) {
        guard app != nil else {
            return directives.append(
                .announceRegistrationFailure(code: "noAppID", message: "this app has no id; set ALDABA_APP_ID"))
        }
        guard !connection.isSuperseded else {
            return directives.append(
                .announceRegistrationFailure(
                    code: AgentMessage.superseded, message: "another process of this app took its place"))
        }
        tokens.registration = .wanted(request: request)
        tokens.tokenIsAwaited = true
        send(.registerForRemoteNotifications(request: request))
    }

    mutating func unregister(_ request: Int64) {
        tokens.registration = .unwanted(request: request)
        tokens.tokenIsAwaited = false
        tokens.token = nil
        send(.unregisterForRemoteNotifications(request: request))
    }

    mutating func endToken(_ request: Int64) {
        tokens.registration = .untouched
        tokens.tokenIsAwaited = false
        tokens.token = nil
        ask(request, .unregisterForRemoteNotifications(request: request))
    }

    /// The token could not be ended yet: the wish is repeated on later connections, unless another one took its place.
    mutating func endIsDelayed(_ request: Int64) {
        if case .untouched = tokens.registration { tokens.registration = .unwanted(request: request) }
    }

    mutating func registered(_ request: Int64?, _ token: String) {
        guard case .wanted(let wanted) = tokens.registration, request == nil || request == wanted else { return }
        guard tokens.tokenIsAwaited || token != tokens.token else { return }
        tokens.tokenIsAwaited = false
        tokens.token = token
        directives.append(.announceToken(token))
    }

    mutating func registrationFailed(_ request: Int64, code: String, message: String) {
        guard tokens.tokenIsAwaited, case .wanted(request) = tokens.registration else { return }
        tokens.tokenIsAwaited = false
        directives.append(.announceRegistrationFailure(code: code, message: message))
    }
}

extension AppMessage {
    /// Whether it gives the device token back.
    var endsToken: Bool { if case .unregisterForRemoteNotifications = self { true } else { false } }
    /// Whether it has an address opened.
    var isOpening: Bool { if case .open = self { true } else { false } }
}
