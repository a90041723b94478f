import AgentProtocol
import AppHost
import Foundation
import Synchronization

/// An app's access to its notifications.
///
/// Completion handlers run on a private serial queue, in the order of the calls, when the agent has answered: without
/// an agent they wait for one. They do not wait for the main thread, which may wait for them.
///
/// Sendable is unchecked for `storedDelegate`, which is read and written under `lock` only.
open class UNUserNotificationCenter: NSObject, @unchecked Sendable {
    private static let shared = UNUserNotificationCenter(host: .shared)

    private let host: AppHost
    private let completions = DispatchQueue(label: "aldaba.usernotifications.completions")
    private let lock = NSLock()
    private weak var storedDelegate: (any UNUserNotificationCenterDelegate)?

    /// Makes a center of a host. An app has one, ``current()``; tests make others.
    package init(host: AppHost) {
        self.host = host
        super.init()
    }

    /// There is one center in an app.
    @available(*, unavailable, message: "use UNUserNotificationCenter.current()")
    public override init() { fatalError("use UNUserNotificationCenter.current()") }

    /// The center of this app.
    open class func current() -> UNUserNotificationCenter { shared }

    /// Takes this app's notifications and responses; held weakly.
    ///
    /// Set it before `didFinishLaunching` returns. Responses wait until there is one.
    open weak var delegate: (any UNUserNotificationCenterDelegate)? {
        get { lock.withLock { storedDelegate } }
        set {
            lock.withLock { storedDelegate = newValue }
            let exists = newValue != nil
            if let newValue {
                DelegateCheck.begin(of: Swift.type(of: newValue), as: [(any UNUserNotificationCenterDelegate).self])
            }
            host.onMain { [self] receivers in
                attach(to: host)
                // An app without UIKit's life cycle has launched when it takes notifications.
                if exists, receivers.application == nil { host.finishLaunch() }
            }
            host.setRespondent(exists: exists)
        }
    }

    /// Always false: content extensions do not exist on Linux.
    open var supportsContentExtensions: Bool { false }

    /// Asks the person to allow notifications; once, later calls give the same answer.
    ///
    /// `UNError.notificationsNotAllowed` when this app has no bundle id that an agent could know.
    @preconcurrency
    open func requestAuthorization(
        options: UNAuthorizationOptions = [],
        completionHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        host.start()
        host.requestAuthorization(options: options.rawValue) { [completions] granted in
            completions.async { completionHandler(granted ?? false, granted == nil ? Self.unreachable : nil) }
        }
    }

    /// Reads what this app may do.
    @preconcurrency
    open func getNotificationSettings(completionHandler: @escaping @Sendable (UNNotificationSettings) -> Void) {
        host.start()
        host.requestSettings { [completions] settings in
            completions.async { completionHandler(settings.map { UNNotificationSettings($0) } ?? .undetermined) }
        }
    }

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
}

extension UNUserNotificationCenter {
    /// Sends a command to the agent. `completion` is called on the private queue, with the answer or an error.
    func ask(_ command: CenterCommand, completion: @escaping @Sendable (Result<CenterAnswer, any Error>) -> Void) {
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

    private static var unreachable: any Error {
        UNError(
            .notificationsNotAllowed,
            "No agent takes this: the app has no id, another process is the app now, or too much waits already.")
    }

    /// No message can carry it.
    private static func unsendable(_ command: CenterCommand, _ error: AgentFrameError) -> any Error {
        let what = if case .add(let request) = command { "The notification \"\(request.identifier)\"" } else { "This" }
        return UnsendableContent(sentence: "\(what) cannot be sent: \(error).").error
    }

    private static func refusal(_ code: Int, _ message: String) -> any Error {
        UNError(
            _nsError: NSError(domain: UNErrorDomain, code: code, userInfo: [NSLocalizedDescriptionKey: message]))
    }
}
