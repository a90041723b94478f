import AgentProtocol
import AppHost
import Foundation
import Synchronization

/// Passes the agent's notifications to objects of the service extension's class, one object for each.
///
/// The main thread stays free for the connection: an extension may block its own threads.
@MainActor
final class ServiceExtensionHost: ExtensionReceiver {
    private let principal: UNNotificationServiceExtension.Type
    /// The calls without an answer yet, by the notification's id.
    private var open: [Int64: ExtensionCall] = [:]

    init(_ principal: UNNotificationServiceExtension.Type) { self.principal = principal }

    /// Connects to the agent, and never returns.
    nonisolated static func run(_ principal: UNNotificationServiceExtension.Type) -> Never {
        AppHost.shared.onMain { receivers in
            receivers.serviceExtension = ServiceExtensionHost(principal)
            AppHost.shared.start()
        }
        while true { RunLoop.main.run() }
    }

    func extend(_ notification: DeliveredNotification, answer: @escaping @Sendable (ExtensionAnswer) -> Void) {
        let id = notification.id
        let call = ExtensionCall(principal) { [weak self] given in
            DispatchQueue.main.async { MainActor.assumeIsolated { self?.open[id] = nil } }
            answer(given)
        }
        open[id] = call
        call.begin(UNNotification(notification).request)
    }

    func expire(_ notification: Int64) { open[notification]?.expire() }
}

/// The call of an extension object for one notification.
///
/// Sendable is unchecked for `object`, which is not changed. Its methods are called on two threads, as Apple documents.
final class ExtensionCall: @unchecked Sendable {
    private static let threads = DispatchQueue(label: "aldaba.extension", attributes: .concurrent)

    private let object: UNNotificationServiceExtension
    private let answer: Mutex<(@Sendable (ExtensionAnswer) -> Void)?>

    /// - Parameter answer: Called once, on any thread.
    init(_ principal: UNNotificationServiceExtension.Type, answer: @escaping @Sendable (ExtensionAnswer) -> Void) {
        object = principal.init()
        self.answer = Mutex(answer)
    }

    func begin(_ request: UNNotificationRequest) {
        Self.threads.async { [self] in
            AppDefaults.synchronize()
            object.didReceive(request) { [self] content in take(content, of: request) }
        }
    }

    func expire() { Self.threads.async { [self] in object.serviceExtensionTimeWillExpire() } }

    /// The first content counts, as it is now: the extension may go on changing it.
    private func take(_ content: UNNotificationContent, of request: UNNotificationRequest) {
        let given: ExtensionAnswer
        if content.isEqual(request.content) {
            given = .unchanged
        } else {
            do throws(UnsendableContent) {
                given = .changed(try content.spokenValues.forWire())
            } catch {
                given = .unsendable(error.sentence)
            }
        }
        let first = answer.withLock { answer in
            defer { answer = nil }
            return answer
        }
        AppDefaults.synchronize()
        first?(given)
    }
}
