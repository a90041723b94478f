import PushCore

/// The requests that a caller asks for: those that have every value that is set.
package struct ReceivedFilter: Sendable {
    /// A value inside the JSON of a body.
    package struct Match: Hashable, Sendable {
        /// The names and indexes that lead to the value, `aps`, `alert`, `title`.
        package var path: [String]
        /// The text of a string, or the JSON of another value.
        package var value: String

        /// Reads `aps.alert.title=Hello`; `nil` without a path or an equals sign.
        package init?(_ text: some StringProtocol) {
            guard let end = text.firstIndex(of: "="), end > text.startIndex else { return nil }
            path = String(text[..<end]).split(separator: "." as Character, omittingEmptySubsequences: false).map(
                String.init)
            value = String(text[text.index(after: end)...])
        }

        func fits(_ json: JSONValue?) -> Bool {
            var place = json
            for name in path {
                if let items = place?.items {
                    place = Int(name).flatMap { items.indices.contains($0) ? items[$0] : nil }
                } else {
                    place = place?[name]
                }
            }
            return place.map { $0.text ?? $0.json } == value
        }
    }

    /// The names of values that are compared as a whole.
    package enum Name: String, CaseIterable, Sendable {
        /// Each is a member of the answer; `notification` is the id of one of the notifications in it, or the `apns-id` of its answer.
        case interface, token, app, team, key, topic, condition, title, body, state, status, namespace, notification
    }

    /// The values, by name.
    package var values: [Name: String] = [:]
    /// The values inside the JSON of bodies.
    package var matches: [Match] = []
    /// The number after which requests count.
    package var since = 0

    /// Makes a filter that every request fits.
    package init() {}

    /// Whether a request fits, whose notifications are in a state.
    func fits(_ request: ReceivedRequest, state: String) -> Bool {
        guard request.number > since else { return false }
        guard values.allSatisfy({ Self.hasValue($1, named: $0, request, state: state) }) else { return false }
        guard !matches.isEmpty else { return true }
        let json = request.json
        return matches.allSatisfy { $0.fits(json) }
    }

    /// Whether a caller who waits counts a request: once it has an answer, unless a state is asked for.
    func counts(_ request: ReceivedRequest, state: String) -> Bool {
        fits(request, state: state)
            && (request.answer != nil || request.fault != nil || values[.state] != nil
                || request.parties.token == RefusingToken.silent)
    }

    private static func hasValue(
        _ value: String, named name: Name, _ request: ReceivedRequest, state: String
    ) -> Bool {
        if name == .notification {
            // A refused request has no notification, but its answer has an id.
            return request.accepted.contains { $0.id.description == value }
                || request.answer?.fields.contains { $0.name == "apns-id" && $0.value == value } == true
        }
        return value == self.value(name, of: request, state: state)
    }

    private static func value(_ name: Name, of request: ReceivedRequest, state: String) -> String? {
        switch name {
        case .interface: request.content.interface.rawValue
        case .token: request.parties.token
        case .app: request.app
        case .team: request.parties.team
        case .key: request.parties.key
        case .topic: request.parties.topic
        case .condition: request.parties.condition
        case .title: request.title
        case .body: request.text
        case .state: state
        case .status: request.answer.map { String($0.status) }
        case .namespace: request.parties.namespace
        case .notification: nil
        }
    }
}
