import AppHost
import Foundation

/// Asks for actions on calls that the app's own buttons stand for: ``CXAnswerCallAction`` and ``CXEndCallAction``.
///
/// Sendable is unchecked, since the class is open; it has a constant only.
open class CXCallController: NSObject, @unchecked Sendable {
    private let host: AppHost

    /// Creates a controller.
    public override convenience init() { self.init(host: .shared) }

    /// Creates a controller; its handlers are called on the main actor, so the queue is without an effect.
    public convenience init(queue: DispatchQueue) { self.init(host: .shared) }

    /// Creates a controller of a host's calls.
    package init(host: AppHost) {
        self.host = host
        super.init()
    }

    /// Has the provider's delegate perform the actions. The handler is called on the main actor, with
    /// ``CXErrorCodeRequestTransactionError`` where one cannot be performed; none is performed then.
    @preconcurrency
    open func request(
        _ transaction: CXTransaction, completion: @escaping @MainActor @Sendable ((any Error)?) -> Void
    ) {
        let actions = transaction.actions
        host.onMain { receivers in
            let calls = actions.compactMap { $0 as? CXCallAction }
            guard !calls.isEmpty, calls.count == actions.count, calls.allSatisfy(CXProvider.canPerform) else {
                return completion(CXErrorCodeRequestTransactionError(.invalidAction))
            }
            guard let provider = receivers.calls as? CXProvider else {
                return completion(CXErrorCodeRequestTransactionError(.unknownCallProvider))
            }
            for call in calls { provider.perform(call) }
            completion(nil)
        }
    }

    /// Has the provider's delegate perform one action.
    @preconcurrency
    open func requestTransaction(
        with action: CXAction, completion: @escaping @MainActor @Sendable ((any Error)?) -> Void
    ) {
        request(CXTransaction(action: action), completion: completion)
    }
}

/// Actions that are performed together.
///
/// Sendable is unchecked: a transaction is passed on once, when it has its actions.
open class CXTransaction: NSObject, @unchecked Sendable {
    /// The actions, in their order.
    open private(set) var actions: [CXAction]

    /// Creates a transaction of these actions.
    public init(actions: [CXAction]) { self.actions = actions }

    /// Creates a transaction of one action.
    public convenience init(action: CXAction) { self.init(actions: [action]) }

    /// Adds an action.
    open func addAction(_ action: CXAction) { actions.append(action) }
}

/// The reason why a transaction is not performed.
public struct CXErrorCodeRequestTransactionError: Error, CustomNSError, Sendable {
    /// The domain of these errors.
    public static let errorDomain = "com.apple.CallKit.error.requesttransaction"

    /// Apple's codes, as far as they occur.
    public enum Code: Int, Sendable {
        /// The app has no provider with a delegate.
        case unknownCallProvider = 2
        /// Another action than answering and ending a call.
        case invalidAction = 6
    }

    /// The code.
    public let code: Code

    init(_ code: Code) { self.code = code }

    /// The code's number.
    public var errorCode: Int { code.rawValue }
}
