import Foundation
import PushModel

/// What a path names a notification by: its internal id, its `apns-id`, or the name that FCM's door gave it,
/// `projects/P/messages/ID`, percent-encoded as one segment.
package struct NotificationReference: Hashable, Sendable {
    /// The internal id, or an `apns-id`.
    package let id: String
    private let project: String?

    /// Reads a path's segment.
    ///
    /// - Throws: 404 where it can name nothing.
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

    /// Whose notifications are looked at, where `team` asks; `nil` for every team's.
    ///
    /// - Throws: 404 where the project is another one, or none.
    package func owner(_ team: TeamID?) throws -> TeamID? {
        guard let project else { return team }
        guard let named = ProjectName.team(project), team == nil || team == named else { throw ControlError.notFound }
        return named
    }
}
