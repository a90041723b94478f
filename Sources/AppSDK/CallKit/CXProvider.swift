import AgentProtocol
import AppHost
@_exported import Foundation

/// The provider of an app's incoming calls, which are shown as notifications with the buttons Answer and Decline.
///
/// The app must be allowed to show notifications. The delegate is called on the main actor, whatever the queue. An app
/// has one provider; of several the newest gets the person's answers.
///
/// Sendable is unchecked for the delegate and the configuration, which are read and written under `lock` only.
open class CXProvider: NSObject, @unchecked Sendable {
    private let host: AppHost
    private let lock = NSLock()
    private weak var storedDelegate: (any CXProviderDelegate)?
    private var storedConfiguration: CXProviderConfiguration

    /// Creates a provider.
    public convenience init(configuration: CXProviderConfiguration) {
        self.init(configuration: configuration, host: .shared)
    }

    /// Creates a provider of a host's calls.
    package init(configuration: CXProviderConfiguration, host: AppHost) {
        self.host = host
        storedConfiguration = configuration
        super.init()
        host.start()
    }

    /// The provider's configuration.
    open var configuration: CXProviderConfiguration {
        get { lock.withLock { storedConfiguration } }
        set { lock.withLock { storedConfiguration = newValue } }
    }

    /// Sets the receiver of the person's answers, which is held weakly; the queue is without an effect.
    open func setDelegate(_ delegate: (any CXProviderDelegate)?, queue: DispatchQueue?) {
        lock.withLock { storedDelegate = delegate }
        guard delegate != nil else { return }
        host.onMain { [self] receivers in
            receivers.calls = self
            if receivers.application == nil { host.finishLaunch() }
            self.delegate?.providerDidBegin(self)
        }
        host.receiveCallAnswers()
    }

    private var delegate: (any CXProviderDelegate)? { lock.withLock { storedDelegate } }

    // MARK: Calls

    /// Shows an incoming call. The handler is called on the main actor, with an error where it is not shown:
    /// ``CXErrorCodeIncomingCallError``.
    @preconcurrency
    open func reportNewIncomingCall(
        with UUID: UUID, update: CXCallUpdate, completion: @escaping @MainActor @Sendable ((any Error)?) -> Void
    ) {
        host.requestCenter(.add(CallNotification.request(UUID, update, configuration))) { answer in
            let error = CallNotification.error(in: answer)
            DispatchQueue.main.async { MainActor.assumeIsolated { completion(error) } }
        }
    }

    /// Shows an incoming call.
    ///
    /// - Throws: ``CXErrorCodeIncomingCallError`` where it is not shown.
    open func reportNewIncomingCall(with UUID: UUID, update: CXCallUpdate) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            reportNewIncomingCall(with: UUID, update: update) { error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
    }

    /// Shows an incoming call anew, with what has become known of it.
    open func reportCall(with UUID: UUID, updated update: CXCallUpdate) {
        host.requestCenter(.add(CallNotification.request(UUID, update, configuration))) { _ in }
    }

    /// A call has ended: its notification goes.
    open func reportCall(with UUID: UUID, endedAt dateEnded: Date?, reason endedReason: CXCallEndedReason) {
        withdraw(UUID)
    }

    /// Ends the provider: its delegate gets no more answers.
    open func invalidate() {
        let known = delegate
        setDelegate(nil, queue: nil)
        host.onMain { [self] _ in known?.providerDidReset(self) }
    }

    private func withdraw(_ call: UUID) {
        host.requestCenter(.removeDelivered([CallNotification.identifier(of: call)])) { _ in }
    }

    /// Whether an action is one of those that a provider performs.
    static func canPerform(_ action: CXCallAction) -> Bool {
        action is CXAnswerCallAction || action is CXEndCallAction
    }

    /// Performs an action of the person, or of ``CXCallController``; `false` where there is no delegate.
    @MainActor
    @discardableResult
    func perform(_ action: CXCallAction) -> Bool {
        guard let delegate else { return false }
        withdraw(action.callUUID)
        switch action {
        case let answer as CXAnswerCallAction: delegate.provider(self, perform: answer)
        case let end as CXEndCallAction: delegate.provider(self, perform: end)
        default: return false
        }
        return true
    }
}

extension CXProvider: CallReceiver {
    /// Performs the action that the person chose.
    @MainActor
    package func respond(_ response: DeliveredResponse) {
        guard let call = CallNotification.call(of: response.notification.identifier) else { return }
        switch response.action {
        case CallNotification.answer, NotificationAction.open: perform(CXAnswerCallAction(call: call))
        case CallNotification.decline: perform(CXEndCallAction(call: call))
        default: break
        }
    }
}

/// Receives the person's answers to calls, on the main actor.
public protocol CXProviderDelegate: NSObjectProtocol {
    /// The provider was ended: all calls are over.
    @preconcurrency @MainActor func providerDidReset(_ provider: CXProvider)

    /// The provider has begun.
    @preconcurrency @MainActor func providerDidBegin(_ provider: CXProvider)

    /// The person answers a call.
    @preconcurrency @MainActor func provider(_ provider: CXProvider, perform action: CXAnswerCallAction)

    /// The person declines a call, or the app ends it.
    @preconcurrency @MainActor func provider(_ provider: CXProvider, perform action: CXEndCallAction)
}

extension CXProviderDelegate {
    /// Does nothing.
    @preconcurrency @MainActor public func providerDidBegin(_ provider: CXProvider) {}

    /// Does nothing, and fails the action.
    @preconcurrency @MainActor public func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
        action.fail()
    }

    /// Does nothing, and fails the action.
    @preconcurrency @MainActor public func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
        action.fail()
    }
}
