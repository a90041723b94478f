import Foundation
import PushCore

/// The reference to a notification in a path: its internal id, its `apns-id`, or FCM's name `projects/P/messages/ID`,
/// percent-encoded as one segment.
package struct NotificationReference: Hashable, Sendable {
    /// The internal id, or an `apns-id`.
    package let id: String
    private let project: String?

    /// Parses a path's segment.
    ///
    /// - Throws: 404 where it is no valid reference.
    package init(segment: String) throws {
        guard let text = segment.removingPercentEncoding, 1...128 ~= text.utf8.count else {
            throw ControlError.notFound
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        if parts.count == 4, parts[0] == "projects", parts[2] == "messages", !parts[3].isEmpty {
            (project, id) = (String(parts[1]), String(parts[3]))
        } else {
            (project, id) = (nil, text)
        }
    }

    /// The team whose notifications are searched for a caller of `team`; `nil` for every team's.
    ///
    /// - Throws: 404 where the project is another one, or none.
    package func owner(_ team: TeamID?) throws -> TeamID? {
        guard let project else { return team }
        guard let named = ProjectName.team(project), team == nil || team == named else { throw ControlError.notFound }
        return named
    }
}
