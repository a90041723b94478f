import Foundation
import RelayProtocol
import Synchronization

/// An answer of an app service.
public struct AppServiceResponse: Sendable {
    /// The answer; empty where there is none.
    public let message: ValueSet
    /// The outcome of the message.
    public let status: AppServiceResponseStatus
    /// More about a failure, for people.
    public let detail: String?
}

/// An answer to a message that was sent by itself.
public struct StatelessAppServiceResponse: Sendable {
    /// The answer; empty where there is none.
    public let message: ValueSet
    /// The outcome of the message.
    public let status: StatelessAppServiceResponseStatus
    /// More about a failure, for people.
    public let detail: String?
}

/// A use of a connection that its state does not allow.
public enum AppServiceConnectionError: Error, Hashable, Sendable {
    /// It is open already, or was.
    case openedBefore
    /// ``AppServiceConnection/appServiceInfo`` is not set.
    case noAppServiceInfo
}

/// A request from the app at the other end of the connection.
public final class AppServiceRequest: Sendable {
    /// The question.
    public let message: ValueSet
    /// Whether no answer is expected: it was sent by
    /// ``AppServiceConnection/sendOneWayMessage(_:to:request:as:timeToLive:limit:)``. It counts as delivered once the
    /// handlers have returned. Where a handler keeps it, it counts as delivered when it is answered, with any message,
    /// or released.
    public let isOneWay: Bool
    /// The id under which it was sent. A one-way message whose agent ended suddenly may come a second time under it.
    public let id: UUID
    /// The request was canceled by the other end, or its deadline has passed. Sent once.
    public let canceled = ConnectedDevicesEvent<Void>()
    private let call: Int64
    private let client: RelayClient
    private let isAnswered = Mutex(false)
    private let isOver = Mutex(false)

    init(_ message: RelayMap, id: UUID, isOneWay: Bool = false, call: Int64, client: RelayClient) {
        self.message = ValueSetCoding.values(message)
        self.id = id
        self.isOneWay = isOneWay
        self.call = call
        self.client = client
        client.whenCancelled(call) { [weak self] in self?.cancel() }
    }

    /// Whether the answer is not wanted any more.
    public var isCanceled: Bool { isOver.withLock { $0 } }

    private func cancel() {
        isOver.withLock { $0 = true }
        canceled.fire(())
    }

    deinit {
        client.expectNoCancel(of: call)
        guard !isAnswered.withLock({ $0 }) else { return }
        // One that wants no answer was taken.
        let outcome = isOneWay ? RelayOutcome(.success) : RelayOutcome(.failed, detail: "the app did not answer")
        client.say(.answer(call: call, outcome))
    }

    /// Sends the answer; the first answer counts. A request that no handler keeps is answered with a failure.
    ///
    /// A limit above ``AppServiceConnection/largestMessageLimit`` is lowered to it.
    ///
    /// - Returns: ``AppServiceResponseStatus/messageSizeTooLarge`` or ``AppServiceResponseStatus/failure`` where the
    ///   answer cannot be sent: the other end then receives this status.
    @discardableResult public func sendResponse(
        _ message: ValueSet, limit: Int = AppServiceConnection.defaultMessageLimit
    ) -> AppServiceResponseStatus {
        let isFirst = isAnswered.withLock { isAnswered in
            defer { isAnswered = true }
            return !isAnswered
        }
        guard isFirst else { return .failure }
        do throws(ValueSetFault) {
            let map = try ValueSetCoding.relay(message, limit: limit)
            client.say(.answer(call: call, RelayOutcome(.success, message: map)))
            return .success
        } catch {
            let status: RelayStatus = error.isTooLarge ? .tooLarge : .failed
            client.say(.answer(call: call, RelayOutcome(status, telling: "the answer: \(error)")))
            return error.isTooLarge ? .messageSizeTooLarge : .failure
        }
    }
}

/// A connection to an app service on another device. Both ends may send requests.
///
/// Requests arrive in the order in which the other end sent them. ``serviceClosed`` reports the end of the connection
/// by the other end, its app or a lost route.
public final class AppServiceConnection: Sendable {
    /// The most bytes of a message unless a call says otherwise: 64 KiB.
    public static let defaultMessageLimit = RelayLimits.message.bytes
    /// The most bytes of any message: 256 KiB.
    public static let largestMessageLimit = RelayLimits.largestMessage.bytes

    private struct State {
        var info: AppServiceInfo?
        var id: UUID?
        var isOpening = false
        var isClosed = false
        var listener: Int?
    }

    private let client: RelayClient
    private let state: Mutex<State>
    /// Called when either end has closed it.
    private let whenEnded: @Sendable () -> Void

    /// A request from the other end. Subscribe before the first `await`; a request without a subscriber is answered
    /// with a failure.
    public let requestReceived = ConnectedDevicesEvent<AppServiceRequest>()
    /// The connection was closed, and why; not sent for a close from this end.
    public let serviceClosed = ConnectedDevicesEvent<AppServiceClosedStatus>()

    /// A connection that is not open.
    public convenience init(appServiceInfo: AppServiceInfo? = nil) {
        self.init(appServiceInfo, client: .shared)
    }

    init(_ info: AppServiceInfo?, client: RelayClient) {
        self.client = client
        whenEnded = {}
        state = Mutex(State(info: info))
    }

    /// The end of a connection that another device has opened; without an id it is one question's.
    init(
        opened id: UUID?, _ info: AppServiceInfo, client: RelayClient, whenEnded: @escaping @Sendable () -> Void = {}
    ) {
        self.client = client
        self.whenEnded = whenEnded
        state = Mutex(State(info: info, id: id, isOpening: true))
    }

    deinit { if let listener = state.withLock({ $0.listener }) { client.ignore(listener) } }

    /// The service; it is set before the connection is opened.
    public var appServiceInfo: AppServiceInfo? {
        get { state.withLock { $0.info } }
        set { state.withLock { if !$0.isOpening { $0.info = newValue } } }
    }

    /// Opens the connection.
    ///
    /// - Parameter command: The command by which its life can be asked for.
    /// - Throws: ``AppServiceConnectionError`` where it was opened before, or has no service to open.
    public func openRemote(
        _ request: RemoteSystemConnectionRequest, as command: RemoteCommand = RemoteCommand(),
        within timeout: Duration = .seconds(10)
    ) async throws -> AppServiceConnectionStatus {
        let info = try state.withLock { state throws -> AppServiceInfo in
            guard !state.isOpening else { throw AppServiceConnectionError.openedBefore }
            guard let info = state.info else { throw AppServiceConnectionError.noAppServiceInfo }
            state.isOpening = true
            return info
        }
        let id = command.id
        // The other end's messages may come before the answer is handled here.
        state.withLock { $0.id = id }
        listen()
        let outcome = await client.command(
            .open(app: request.app ?? info.packageId, service: info.name), id: id, on: request.device, within: timeout)
        if outcome.status != .success { end() }
        return AppServiceConnectionStatus(outcome.status)
    }

    /// Asks the other end, and waits for its answer. A limit above ``largestMessageLimit`` is that.
    ///
    /// - Parameter command: The command by which its life can be asked for.
    public func sendMessage(
        _ message: ValueSet, as command: RemoteCommand = RemoteCommand(), within timeout: Duration = .seconds(30),
        limit: Int = AppServiceConnection.defaultMessageLimit
    ) async -> AppServiceResponse {
        let map: RelayMap
        do throws(ValueSetFault) { map = try ValueSetCoding.relay(message, limit: limit) } catch {
            return AppServiceResponse(
                message: [:], status: error.isTooLarge ? .messageSizeTooLarge : .failure, detail: error.description)
        }
        guard let id = state.withLock({ $0.isClosed ? nil : $0.id }) else {
            return AppServiceResponse(message: [:], status: .connectionClosed, detail: nil)
        }
        let outcome = await client.command(
            .send(connection: id, message: map), id: command.id, on: "", within: timeout)
        return AppServiceResponse(
            message: ValueSetCoding.values(outcome.message ?? [:]), status: AppServiceResponseStatus(outcome.status),
            detail: outcome.detail)
    }

    /// Opens, asks once and closes, in one round trip. A limit above ``largestMessageLimit`` is that.
    ///
    /// - Parameter command: The command by which its life can be asked for; given again, it is carried out once.
    public static func sendStatelessMessage(
        _ message: ValueSet, to info: AppServiceInfo, request: RemoteSystemConnectionRequest,
        as command: RemoteCommand = RemoteCommand(), within timeout: Duration = .seconds(30),
        limit: Int = AppServiceConnection.defaultMessageLimit
    ) async -> StatelessAppServiceResponse {
        let map: RelayMap
        do throws(ValueSetFault) { map = try ValueSetCoding.relay(message, limit: limit) } catch {
            return StatelessAppServiceResponse(
                message: [:], status: error.isTooLarge ? .messageSizeTooLarge : .failure, detail: error.description)
        }
        let outcome = await RelayClient.shared.command(
            .call(app: request.app ?? info.packageId, service: info.name, message: map), id: command.id,
            on: request.device, within: timeout)
        return StatelessAppServiceResponse(
            message: ValueSetCoding.values(outcome.message ?? [:]),
            status: StatelessAppServiceResponseStatus(outcome.status), detail: outcome.detail)
    }

    /// Sends a message that needs no answer, and that is kept for a device that is offline. A limit above
    /// ``largestMessageLimit`` is lowered to it.
    ///
    /// - Parameters:
    ///   - command: The command with which the outcome is queried, and the message canceled while it is queued. Sent
    ///     again, the message is delivered to the app once.
    ///   - timeToLive: The time for which the server keeps it, at most 28 days.
    /// - Returns: ``StatelessAppServiceResponseStatus/success`` once the server keeps it, which does not mean that the
    ///   app has received it.
    public static func sendOneWayMessage(
        _ message: ValueSet, to info: AppServiceInfo, request: RemoteSystemConnectionRequest,
        as command: RemoteCommand = RemoteCommand(), timeToLive: Duration = .seconds(86_400),
        limit: Int = AppServiceConnection.defaultMessageLimit
    ) async -> StatelessAppServiceResponse {
        let map: RelayMap
        do throws(ValueSetFault) { map = try ValueSetCoding.relay(message, limit: limit) } catch {
            return StatelessAppServiceResponse(
                message: [:], status: error.isTooLarge ? .messageSizeTooLarge : .failure, detail: error.description)
        }
        let outcome = await RelayClient.shared.command(
            .tell(app: request.app ?? info.packageId, service: info.name, message: map), id: command.id,
            on: request.device, within: timeToLive)
        return StatelessAppServiceResponse(
            message: [:], status: StatelessAppServiceResponseStatus(outcome.status), detail: outcome.detail)
    }

    /// Closes the connection; the other end is notified.
    public func close() {
        guard let id = state.withLock({ $0.isClosed ? nil : $0.id }) else { return }
        end()
        client.say(.close(request: 0, connection: id, .completed))
    }

    // MARK: Inside

    func listen() {
        let listener = client.listen { [weak self] in self?.take($0) }
        state.withLock { $0.listener = listener }
    }

    private func end() {
        let listener = state.withLock { state in
            state.isClosed = true
            return state.listener
        }
        if let listener { client.ignore(listener) }
        whenEnded()
    }

    private func take(_ news: RelayClient.News) {
        let id = state.withLock { $0.id }
        switch news {
        case .notice(.asked(let call, let question, _, _, let asked))
        where asked.connection != nil && asked.connection == id:
            receive(asked, id: question, call: call)
        case .notice(.closed(let connection, let reason)) where connection == id: close(by: reason)
        case .ended: close(by: .unknown)
        default: break
        }
    }

    /// Ends it from the other side, once.
    func close(by reason: RelayCloseReason) {
        guard !state.withLock({ $0.isClosed }) else { return }
        end()
        serviceClosed.fire(AppServiceClosedStatus(reason))
    }

    func receive(_ asked: RelayCall, id: UUID, call: Int64) {
        guard requestReceived.hasHandler else {
            return client.say(
                .answer(call: call, RelayOutcome(.failed, detail: "the app does not take questions here")))
        }
        requestReceived.fire(
            AppServiceRequest(asked.message, id: id, isOneWay: asked.isOneWay, call: call, client: client))
    }
}
