import PushCore

/// The state of a send.
package enum SendState: String, Sendable, CaseIterable {
    /// Accepted, not begun.
    case enqueued = "Enqueued"
    /// The send waits for its instant.
    case scheduled = "Scheduled"
    /// The notifications are being sent to the push services.
    case processing = "Processing"
    /// The send is held, and goes on when it is resumed.
    case paused = "Paused"
    /// Every notification of it has its outcome.
    case completed = "Completed"
    /// The send was given up.
    case abandoned = "Abandoned"
    /// No installation matched.
    case noTargetFound = "NoTargetFound"
    /// The send was taken back before it began.
    case canceled = "Canceled"

    /// Whether it has come to its end.
    package var isFinal: Bool {
        switch self {
        case .completed, .abandoned, .noTargetFound, .canceled: true
        case .enqueued, .scheduled, .processing, .paused: false
        }
    }
}

/// The outcome of a notification at the push service, by Azure's names.
package enum SendOutcome: String, Sendable, CaseIterable {
    /// The push service took it.
    case success = "Success"
    /// The channel is none of the push service's.
    case badChannel = "BadChannel"
    /// The channel was one, and is no more.
    case expiredChannel = "ExpiredChannel"
    /// The channel is of another app or team.
    case wrongChannel = "WrongChannel"
    /// The channel is of the other environment.
    case wrongToken = "WrongToken"
    /// The push service does not take such a payload.
    case invalidNotificationFormat = "InvalidNotificationFormat"
    /// The payload is too large.
    case invalidNotificationSize = "InvalidNotificationSize"
    /// There is no sender for the platform.
    case invalidCredentials = "InvalidCredentials"
    /// The same channel had it already.
    case skipped = "Skipped"
    /// The push service could not take it now.
    case unavailable = "PnsUnavailable"
    /// An error that has no name.
    case unknownError = "UnknownError"
}

/// How many notifications of a platform had an outcome.
package struct OutcomeCount: Hashable, Sendable {
    /// The platform of the installations.
    package var platform: HubPlatform
    /// The outcome of the notifications.
    package var outcome: SendOutcome
    /// How many they are.
    package var count: Int

    /// Makes one line of the counts.
    package init(platform: HubPlatform, outcome: SendOutcome, count: Int) {
        self.platform = platform
        self.outcome = outcome
        self.count = count
    }
}

/// The details of a send: Azure's `NotificationDetails`.
package struct SendDetails: Hashable, Sendable {
    /// The send's id.
    package var id: String
    /// The absolute address of the send.
    package var location: String
    /// The state of the send.
    package var state: SendState
    /// When it was accepted.
    package var enqueuedAt: Timestamp
    /// When its notifications began to be handed over; `nil` before.
    package var startedAt: Timestamp?
    /// When the last had its outcome; `nil` before.
    package var endedAt: Timestamp?
    /// The body that was sent.
    package var body: String
    /// The tag expression; empty for everyone.
    package var tags: String
    /// The platforms that it went to, `template` added for those of templates.
    package var platforms: [String]
    /// The number of notifications by outcome and platform.
    package var outcomes: [OutcomeCount]

    /// Creates an instance from its properties.
    package init(
        id: String, location: String, state: SendState, enqueuedAt: Timestamp, startedAt: Timestamp?,
        endedAt: Timestamp?, body: String, tags: String, platforms: [String], outcomes: [OutcomeCount]
    ) {
        self.id = id
        self.location = location
        self.state = state
        self.enqueuedAt = enqueuedAt
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.body = body
        self.tags = tags
        self.platforms = platforms
        self.outcomes = outcomes
    }

    /// The details as XML, which every SDK reads.
    package var xml: String {
        var elements = [
            XMLElement("NotificationId", id), XMLElement("Location", location), XMLElement("State", state.rawValue),
            XMLElement("EnqueueTime", WireTime.write(enqueuedAt)),
        ]
        if let startedAt { elements.append(XMLElement("StartTime", WireTime.write(startedAt))) }
        if let endedAt { elements.append(XMLElement("EndTime", WireTime.write(endedAt))) }
        elements.append(XMLElement("NotificationBody", body))
        if !tags.isEmpty { elements.append(XMLElement("Tags", tags)) }
        elements.append(XMLElement("TargetPlatforms", platforms.joined(separator: ",")))
        for (name, counts) in grouped {
            elements.append(
                XMLElement(
                    name,
                    children: counts.map { outcome, count in
                        XMLElement(
                            "Outcome", children: [XMLElement("Name", outcome), XMLElement("Count", String(count))])
                    }))
        }
        return XMLElement(
            "NotificationDetails",
            attributes: [
                ("xmlns", AzureXML.namespace), ("xmlns:i", "http://www.w3.org/2001/XMLSchema-instance"),
            ], children: elements
        ).text
    }

    /// The details as JSON, under the same names in camel case.
    package var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("notificationId", .string(id)), .init("location", .string(location)),
            .init("state", .string(state.rawValue)), .init("enqueueTime", .string(WireTime.write(enqueuedAt))),
        ]
        if let startedAt { members.append(.init("startTime", .string(WireTime.write(startedAt)))) }
        if let endedAt { members.append(.init("endTime", .string(WireTime.write(endedAt)))) }
        members.append(.init("tags", .string(tags)))
        members.append(.init("targetPlatforms", .array(platforms.map { .string($0) })))
        for (name, counts) in grouped {
            members.append(
                .init(
                    name.prefix(1).lowercased() + name.dropFirst(),
                    .object(counts.map { .init($0.0, .number(String($0.1))) })))
        }
        return .object(members)
    }

    /// The counts by element; this server's own platform counts with Apple's.
    private var grouped: [(String, [(String, Int)])] {
        HubPlatform.allCases.filter { $0 != .aldaba }.compactMap { platform in
            let name = platform.outcomeElement
            let counts = SendOutcome.allCases.compactMap { outcome -> (String, Int)? in
                let count = outcomes.filter { $0.platform.outcomeElement == name && $0.outcome == outcome }
                    .reduce(0) { $0 + $1.count }
                return count > 0 ? (outcome.rawValue, count) : nil
            }
            return counts.isEmpty ? nil : (name, counts)
        }
    }
}

/// The result of a test send for one installation.
package struct TestResult: Hashable, Sendable {
    /// The installation's platform.
    package var platform: HubPlatform
    /// The installation's channel.
    package var channel: String
    /// The installation's id.
    package var installation: String
    /// The outcome of the notification.
    package var outcome: SendOutcome

    /// Makes the result of one installation.
    package init(platform: HubPlatform, channel: String, installation: String, outcome: SendOutcome) {
        self.platform = platform
        self.channel = channel
        self.installation = installation
        self.outcome = outcome
    }

    /// The results of a test send as Azure's `NotificationOutcome`.
    package static func xml(_ results: [TestResult]) -> String {
        let successes = results.filter { $0.outcome == .success }.count
        return XMLElement(
            "NotificationOutcome", attributes: [("xmlns", AzureXML.namespace)],
            children: [
                XMLElement("Success", String(successes)), XMLElement("Failure", String(results.count - successes)),
                XMLElement(
                    "Results",
                    children: results.map { result in
                        XMLElement(
                            "RegistrationResult",
                            children: [
                                XMLElement("ApplicationPlatform", result.platform.detailName),
                                XMLElement("PnsHandle", result.channel),
                                XMLElement("RegistrationId", result.installation),
                                XMLElement("Outcome", result.outcome.rawValue),
                            ])
                    }),
            ]
        ).text
    }
}
