import AgentProtocol
import PushCore

/// The open questions to the person whether apps may send notifications.
///
/// Guarantees: an app has at most one open question, and all its requests wait for the same answer, at most
/// ``askerLimit`` of them. No id of a question is that of a notification or of another question.
package struct AuthorizationQuestions<Asker: Sendable>: Sendable {
    /// How many requests of one app may wait for one answer.
    package static var askerLimit: Int { 64 }

    /// A question that has no answer yet.
    package struct Question: Sendable {
        /// The app that asked.
        package var app: BundleID
        /// The options that the app asked for (`UNAuthorizationOptions`, raw value).
        package var options: UInt
        /// The callers that wait for the answer.
        package var askers: [Asker]
    }

    /// The outcome of an app's request for authorization.
    package enum Outcome: Hashable, Sendable {
        /// The question is to be shown under this id.
        case ask(NotificationID)
        /// The app's question is open already.
        case joined
        /// Too many wait for it.
        case refused
    }

    /// Creates a collection without questions.
    package init() {}

    private var open: [NotificationID: Question] = [:]
    private var count: Int64 = 0

    /// An app asks.
    package mutating func ask(_ app: BundleID, options: UInt, asker: Asker) -> Outcome {
        guard let id = id(of: app) else {
            let new = nextID()
            open[new] = Question(app: app, options: options, askers: [asker])
            return .ask(new)
        }
        guard let waiting = open[id]?.askers.count, waiting < Self.askerLimit else { return .refused }
        open[id]?.askers.append(asker)
        return .joined
    }

    /// An id for a question. Ids of remote notifications rise from 1, those of local ones fall from -1; these rise from
    /// the least integer, and so meet neither.
    package mutating func nextID() -> NotificationID {
        count += 1
        return NotificationID(rawValue: .min + count)
    }

    /// The question that has this id, while it is open.
    package subscript(id: NotificationID) -> Question? { open[id] }

    /// The id of an app's open question.
    package func id(of app: BundleID) -> NotificationID? { open.first { $0.value.app == app }?.key }

    /// Every open question, with its id.
    package var all: [(id: NotificationID, question: Question)] { open.map { ($0.key, $0.value) } }

    /// Closes a question and returns it, with those who wait for its answer.
    package mutating func close(_ id: NotificationID) -> Question? { open.removeValue(forKey: id) }

    /// Removes the askers that have gone. Their questions stay open, since the person sees them.
    package mutating func removeAskers(where hasGone: (Asker) -> Bool) {
        for id in open.keys { open[id]?.askers.removeAll(where: hasGone) }
    }
}
