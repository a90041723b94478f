import AgentProtocol
import AppHost
import Foundation

/// The notification of an incoming call.
enum CallNotification {
    static let answer = "aldaba.call.answer"
    static let decline = "aldaba.call.decline"
    private static let prefix = "aldaba.call."

    static func identifier(of call: UUID) -> String { prefix + call.uuidString }

    /// The call of a notification; `nil` for a notification of no call.
    static func call(of identifier: String) -> UUID? {
        identifier.hasPrefix(prefix) ? UUID(uuidString: String(identifier.dropFirst(prefix.count))) : nil
    }

    static func request(
        _ call: UUID, _ update: CXCallUpdate, _ configuration: CXProviderConfiguration
    ) -> NotificationRequest {
        var content = NotificationContent()
        content.title = update.localizedCallerName ?? update.remoteHandle?.value ?? "Unknown"
        content.body = update.hasVideo ? "Incoming video call" : "Incoming call"
        content.sound = NotificationSound(name: configuration.ringtoneSound)
        content.categoryIdentifier = NotificationContent.incomingCallCategory
        content.interruptionLevel = .timeSensitive
        content.actions = [
            NotificationActionDescription(
                identifier: answer, title: "Answer", options: NotificationActionDescription.foreground),
            NotificationActionDescription(
                identifier: decline, title: "Decline", options: NotificationActionDescription.destructive),
        ]
        return NotificationRequest(identifier: identifier(of: call), content: content)
    }

    /// The error for the app; `nil` where the call is shown.
    static func error(in answer: Result<CenterAnswer, AppHost.CenterError>) -> CXErrorCodeIncomingCallError? {
        switch answer {
        case .success(.failed(_, let reason)): CXErrorCodeIncomingCallError(.unknown, reason)
        case .success: nil
        case .failure: CXErrorCodeIncomingCallError(.unentitled, "The agent cannot be asked to show a call.")
        }
    }
}
