import AgentProtocol
import Foundation
import Synchronization
import UserNotifications

/// A notification, and the handler that it is returned to.
///
/// Sendable is unchecked: the content is a copy that is not changed. The handler is of Apple's type, which any thread
/// may call, and ``RichDelivery`` calls it once.
private struct Return: @unchecked Sendable {
    let content: UNNotificationContent
    let handler: (UNNotificationContent) -> Void
}

/// A notification whose files are being fetched. It is returned after the last answer, or at the end of its time.
final class RichDelivery: Sendable {
    private struct State {
        var handBack: Return?
        var attachments: [Int: UNNotificationAttachment] = [:]
        var missing: Int
    }

    private let state: Mutex<State>

    init(_ content: UNNotificationContent, count: Int, handler: @escaping (UNNotificationContent) -> Void) {
        let copy = content.copy() as? UNNotificationContent ?? content
        state = Mutex(State(handBack: Return(content: copy, handler: handler), missing: count))
    }

    /// The file at this place has come, or not.
    func take(_ attachment: UNNotificationAttachment?, at place: Int) {
        let isLast = state.withLock { state in
            state.attachments[place] = attachment
            state.missing -= 1
            return state.missing <= 0
        }
        if isLast { finish() }
    }

    /// Gives the notification back with the files that are there; the second time it does nothing.
    func finish() {
        let (handBack, attachments) = state.withLock { state in
            defer { state.handBack = nil }
            return (state.handBack, state.attachments.sorted { $0.key < $1.key }.map(\.value))
        }
        guard let handBack else { return }
        guard !attachments.isEmpty, let changed = handBack.content.mutableCopy() as? UNMutableNotificationContent
        else { return handBack.handler(handBack.content) }
        changed.attachments += attachments
        handBack.handler(changed)
    }
}
