import AgentProtocol
import AppHost
import Foundation
import Synchronization

// How the centre asks the agent.
extension UNUserNotificationCenter {
    /// The number on the app's icon, for which the calling thread waits; `nil` where no agent is connected, and where
    /// it does not answer in time.
    package func badge(within limit: DispatchTimeInterval) -> Int? {
        let answered = DispatchSemaphore(value: 0)
        let badge = Mutex<Int?>(nil)
        host.requestBadge { given in
            badge.withLock { $0 = given }
            answered.signal()
        }
        _ = answered.wait(timeout: .now() + limit)
        return badge.withLock { $0 }
    }

    /// Makes this center the one that the host asks, and starts the host.
    @MainActor
    package func attach(to host: AppHost) {
        if host.receivers.notification == nil { host.receivers.notification = NotificationDelivery(center: self) }
        host.start()
    }

    /// Sends a command to the agent. `completion` is called on the private queue, with the answer or an error.
    func ask(
        _ command: NotificationCenterCommand, completion: @escaping @Sendable (Result<CenterAnswer, any Error>) -> Void
    ) {
        host.start()
        host.requestCenter(command) { [completions] answer in
            let result: Result<CenterAnswer, any Error> =
                switch answer {
                case .failure(.untaken): .failure(Self.unreachable)
                case .failure(.unsendable(let error)): .failure(Self.unsendable(command, error))
                case .success(.failed(let code, let message)): .failure(Self.refusal(code, message))
                case .success(let answer): .success(answer)
                }
            completions.async { completion(result) }
        }
    }

    /// Calls a completion handler on the private queue with the error of a command that was not sent.
    func fail(_ error: any Error, _ completion: (@Sendable ((any Error)?) -> Void)?) {
        completions.async { completion?(error) }
    }

    static var unreachable: any Error {
        UNError(
            .notificationsNotAllowed,
            "No agent takes this: the app has no id, another process is the app now, or too much waits already.")
    }

    /// No message can carry it.
    private static func unsendable(_ command: NotificationCenterCommand, _ error: AgentFrameError) -> any Error {
        let what = if case .add(let request) = command { "The notification \"\(request.identifier)\"" } else { "This" }
        return UnsendableContent(sentence: "\(what) cannot be sent: \(error).").error
    }

    private static func refusal(_ code: Int, _ message: String) -> any Error {
        UNError(
            _nsError: NSError(domain: UNErrorDomain, code: code, userInfo: [NSLocalizedDescriptionKey: message]))
    }

    func awaited(_ call: (@escaping @Sendable ((any Error)?) -> Void) -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            call { error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
    }
}

extension UNNotificationRequest {
    /// The request as it is sent to the agent, when there is something to show and a time to show it.
    func checked() throws -> NotificationRequest {
        guard !content.spokenValues.isEmpty else {
            throw UNError(
                .notificationInvalidNoContent,
                "The notification \"\(identifier)\" has no title, subtitle, body, sound or badge.")
        }
        if let calendar = trigger as? UNCalendarNotificationTrigger, calendar.nextTriggerDate() == nil {
            throw UNError(
                .notificationInvalidNoDate, "No date in the future matches the trigger of \"\(identifier)\".")
        }
        do throws(UnsendableContent) {
            return try forWire()
        } catch {
            throw error.error
        }
    }
}

extension Result {
    /// Why it failed; `nil` when it did not.
    var error: (any Error)? {
        if case .failure(let error) = self { error } else { nil }
    }
}
