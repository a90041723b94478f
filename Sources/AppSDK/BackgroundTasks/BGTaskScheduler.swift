@_exported import Foundation

/// The scheduler of work in the background. Nothing on Linux schedules it: every request is refused, as Apple's
/// simulator does, with ``Error/Code/unavailable``.
///
/// An app that must work at certain times is started by a silent notification, or runs all the time.
///
/// Sendable is unchecked for `identifiers`, which is read and written under `lock` only.
public final class BGTaskScheduler: NSObject, @unchecked Sendable {
    /// The one scheduler.
    public static let shared = BGTaskScheduler()

    private let lock = NSLock()
    private var identifiers: Set<String> = []

    private override init() { super.init() }

    /// Notes that the app could be launched for a task; the handler is never called.
    ///
    /// - Returns: `false` where the identifier was registered before.
    @discardableResult
    public func register(
        forTaskWithIdentifier identifier: String, using queue: DispatchQueue?,
        launchHandler: @escaping (BGTask) -> Void
    ) -> Bool { lock.withLock { identifiers.insert(identifier).inserted } }

    /// Refuses a request.
    ///
    /// - Throws: ``Error/Code/notPermitted`` for an identifier that was not registered, else
    ///   ``Error/Code/unavailable``.
    public func submit(_ taskRequest: BGTaskRequest) throws {
        guard lock.withLock({ identifiers.contains(taskRequest.identifier) }) else {
            throw Error(
                .notPermitted,
                "No task \"\(taskRequest.identifier)\" was registered before the app had launched.")
        }
        throw Error(
            .unavailable, "The task \"\(taskRequest.identifier)\" is not scheduled: Linux runs no work of apps.")
    }

    /// Does nothing: no request waits.
    public func cancel(taskRequestWithIdentifier identifier: String) {}

    /// Does nothing: no request waits.
    public func cancelAllTaskRequests() {}

    /// Gives no requests: none waits.
    @preconcurrency
    public func getPendingTaskRequests(completionHandler: @escaping @Sendable ([BGTaskRequest]) -> Void) {
        DispatchQueue.global().async { completionHandler([]) }
    }

    /// Always empty: no request waits.
    public func pendingTaskRequests() async -> [BGTaskRequest] { [] }
}

extension BGTaskScheduler {
    /// The domain of the scheduler's errors.
    public static let errorDomain = "BGTaskSchedulerErrorDomain"

    /// Why a request is refused. Codes are Apple's.
    public struct Error: _BridgedStoredNSError {
        /// The error as Foundation keeps it.
        public let _nsError: NSError
        /// Takes an error of the scheduler's domain.
        public init(_nsError error: NSError) { _nsError = error }
        /// The scheduler's domain.
        public static var _nsErrorDomain: String { BGTaskScheduler.errorDomain }
        /// The scheduler's domain.
        public static var errorDomain: String { BGTaskScheduler.errorDomain }

        /// The code of an error. Raw values are Apple's.
        public enum Code: Int, _ErrorCodeProtocol, Sendable {
            /// The error that has these codes.
            public typealias _ErrorType = Error
            /// Work in the background is not available here.
            case unavailable = 1
            /// Too many requests wait; never given here.
            case tooManyPendingTaskRequests = 2
            /// The app may not ask for this task.
            case notPermitted = 3
        }

        /// The code ``Code/unavailable``.
        public static var unavailable: Code { .unavailable }
        /// The code ``Code/tooManyPendingTaskRequests``.
        public static var tooManyPendingTaskRequests: Code { .tooManyPendingTaskRequests }
        /// The code ``Code/notPermitted``.
        public static var notPermitted: Code { .notPermitted }

        /// An error with a sentence for people.
        init(_ code: Code, _ sentence: String) {
            _nsError = NSError(
                domain: BGTaskScheduler.errorDomain, code: code.rawValue,
                userInfo: [NSLocalizedDescriptionKey: sentence])
        }
    }
}
