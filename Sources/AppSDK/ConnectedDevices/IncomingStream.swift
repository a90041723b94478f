import Foundation
import RelayProtocol
import Synchronization

/// Why a stream did not come whole.
public enum IncomingStreamError: Error, Hashable, Sendable {
    /// The other device, its app, or the route to it was lost. Received bytes may be kept: the next stream may continue
    /// after them.
    case lost
    /// The received bytes are not those that were sent.
    case digestMismatch
    /// It was taken, or refused, before.
    case endedBefore
}

/// A stream that another device sends to a service of this app. A stream that no handler keeps is refused.
public final class IncomingStream: Sendable {
    private struct State {
        /// How much has come.
        var reached: Int64 = 0
        /// The same with its digest, where something was there already; else the agent compares what comes.
        var position: StreamPosition?
        /// The offset of the pieces that were requested first, until one has arrived.
        var start: Int64?
        var requested: Int64 = 0
        var listener: Int?
        var hasBegun = false
        var isOver = false
        var sink: (@Sendable (Int64, Data) throws -> Void)?
        var waiter: CheckedContinuation<Void, any Error>?
    }

    /// The stream's name at the sender; not a path.
    public let name: String
    /// How many bytes it has.
    public let size: Int64
    /// The id of the device that sends it.
    public let remoteSystemId: String
    private let id: UUID
    private let client: RelayClient
    private let queue = DispatchQueue(label: "aldaba.relay.taking")
    private let state = Mutex(State())

    init(_ id: UUID, _ offer: RelayOffer, from device: String, client: RelayClient) {
        self.id = id
        name = offer.name
        size = offer.size
        remoteSystemId = device
        self.client = client
        let listener = client.listen { [weak self] in self?.receive($0) }
        state.withLock { $0.listener = listener }
    }

    deinit {
        let (listener, isOver) = state.withLock { ($0.listener, $0.isOver) }
        if let listener { client.ignore(listener) }
        if !isOver { client.say(.stream(id, .taken(RelayOutcome(.failed, detail: "the app did not keep the stream")))) }
    }

    /// Refuses the stream; the sender receives the first 4,096 bytes of the reason.
    public func refuse(_ detail: String) {
        finish(.failure(IncomingStreamError.endedBefore), RelayOutcome(.denied, telling: detail))
    }

    /// Receives the stream, and returns when all of it has arrived and its digest equals the sender's. The agent
    /// compares the digests; where part of the stream was there already, this library does.
    ///
    /// - Parameters:
    ///   - position: The part that is there already. If the sender's stream begins differently, the pieces come from 0
    ///     on.
    ///   - sink: Takes a piece and its offset; at 0 the stream starts again. Called in order on a queue of the
    ///     stream's. More is requested only after it has returned, at most 8 MiB ahead.
    /// - Throws: ``IncomingStreamError``, or the error of `sink`: then the sender is notified of a refusal.
    public func receive(
        after position: StreamPosition = StreamPosition(), _ sink: @escaping @Sendable (Int64, Data) throws -> Void
    ) async throws {
        try await withCheckedThrowingContinuation { (waiter: CheckedContinuation<Void, any Error>) in
            let begins = state.withLock { state in
                guard !state.isOver, !state.hasBegun else { return false }
                state.hasBegun = true
                state.sink = sink
                state.waiter = waiter
                // More than there can be is of no use.
                state.position = position.offset > 0 && position.offset <= size ? position : nil
                state.reached = state.position?.offset ?? 0
                state.start = state.reached
                state.requested = state.reached
                return true
            }
            if begins {
                queue.async { [self] in ask() }
            } else {
                waiter.resume(throwing: IncomingStreamError.endedBefore)
            }
        }
    }

    private func ask() {
        let step = state.withLock { state -> RelayStreamStep? in
            let end = min(size, state.reached + RelayStreamStep.window)
            let length = end - state.requested
            let isFirst = state.start != nil && state.requested == state.start
            // Not for every piece, and at once for the last.
            guard isFirst || length > 0 && (length >= RelayStreamStep.window / 4 || end == size) else { return nil }
            defer { state.requested = end }
            return .pull(offset: state.requested, length: length, prefix: isFirst ? state.position?.prefix ?? [] : [])
        }
        if let step, !state.withLock({ $0.isOver }) { client.say(.stream(id, step)) }
    }

    private func receive(_ news: RelayClient.News) {
        switch news {
        case .notice(.stream(id, let step)): queue.async { [self] in handleStep(step) }
        case .ended: queue.async { [self] in finish(.failure(IncomingStreamError.lost), nil) }
        default: break
        }
    }

    private func handleStep(_ step: RelayStreamStep) {
        switch step {
        case .piece(let offset, let bytes): takePiece(offset, bytes)
        case .allGiven(let digest):
            let (reached, position, isBegun) = state.withLock { ($0.reached, $0.position, $0.hasBegun) }
            guard isBegun, reached == size else { return }
            guard position?.whole ?? digest == digest, !digest.isEmpty else {
                if beginsAnew() { return ask() }
                return finish(
                    .failure(IncomingStreamError.digestMismatch),
                    RelayOutcome(.failed, detail: "what came is not what was sent"))
            }
            finish(.success(()), RelayOutcome(.success))
        case .lost: finish(.failure(IncomingStreamError.lost), nil)
        case .pull, .taken: break
        }
    }

    /// All that there is was there already, and is of another stream: it is asked for from the beginning, once.
    private func beginsAnew() -> Bool {
        state.withLock { state in
            guard let start = state.start, start > 0, !state.isOver else { return false }
            state.position = nil
            state.reached = 0
            state.requested = 0
            state.start = nil
            return true
        }
    }

    private func takePiece(_ offset: Int64, _ bytes: [UInt8]) {
        let sink = state.withLock { state -> (@Sendable (Int64, Data) throws -> Void)? in
            if let start = state.start, start > 0, offset == 0 {
                // The bytes that are there belong to another stream.
                state.requested -= start
                state.position = nil
                state.reached = 0
            }
            state.start = nil
            return state.isOver || offset != state.reached ? nil : state.sink
        }
        guard let sink else { return }
        do { try sink(offset, Data(bytes)) } catch {
            return finish(.failure(error), RelayOutcome(.failed, telling: "the app could not keep it: \(error)"))
        }
        state.withLock { state in
            state.position?.append(bytes)
            state.reached += Int64(bytes.count)
        }
        ask()
    }

    private func finish(_ result: Result<Void, any Error>, _ outcome: RelayOutcome?) {
        let (waiter, isFirst) = state.withLock { state in
            defer {
                state.isOver = true
                state.waiter = nil
                state.sink = nil
            }
            return (state.waiter, !state.isOver)
        }
        if isFirst, let outcome { client.say(.stream(id, .taken(outcome))) }
        waiter?.resume(with: result)
    }
}

extension RelayOutcome {
    /// The most bytes of a detail; an agent closes the connection of an app that sends more.
    static let detailLimit = 4096

    /// An outcome whose detail may be of any length; what is too much is cut off at a character.
    init(_ status: RelayStatus, telling detail: String) {
        self.init(status, detail: detail.utf8.count <= Self.detailLimit ? detail : Self.cut(detail))
    }

    private static func cut(_ detail: String) -> String {
        let mark = "…"
        var capacity = detailLimit - mark.utf8.count
        var end = detail.startIndex
        while end < detail.endIndex {
            let next = detail.index(after: end)
            capacity -= detail.utf8.distance(from: end, to: next)
            if capacity < 0 { break }
            end = next
        }
        return String(detail[..<end]) + mark
    }
}
