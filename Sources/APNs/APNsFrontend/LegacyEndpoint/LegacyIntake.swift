import APNsProtocol
import Logging
import Networking
import PushCore
import PushServer
import Synchronization

/// Checks and accepts bursts of pushes.
struct LegacyIntake: Sendable {
    let gate: LegacyPushGate
    let acceptor: any NotificationAcceptor
    let metrics: LegacyMetrics
    let logger: Logger
    /// Remembers pushes for tests; `nil` on a server that is not for development.
    var controls: TestControls?
    private static let failure = RepeatedMessage("the register could not be read", level: .warning)

    /// Accepts the pushes of a burst, in order, up to the first that fails.
    func take(_ pushes: [LegacyPush], certificate: [UInt8]) async -> LegacySession.Outcome {
        var accepted: [AcceptedNotification] = []
        var error: LegacyError?
        var judged = 0
        let record = controls.map { LegacyRecord($0, pushes: pushes, at: acceptor.now) }
        for push in pushes {
            let decision = await decide(push, certificate, ticket: Int32(judged))
            switch decision {
            case .accept(let acceptance): accepted.append(acceptance)
            case .dead(let refusal, let owner): recordRefusal(refusal, owner)
            case .refuse(let status, let refusal, let owner):
                error = LegacyError(status, identifier: push.identifier, note: refusal.note ?? "")
                if let owner { recordRefusal(refusal, owner) }
            }
            if error != nil { break }
            judged += 1
        }
        let (failed, isStopping) = await accept(accepted, record)
        if let failed {
            judged = Int(failed)
            error = LegacyError(
                isStopping ? .shutdown : .processingError, identifier: pushes[judged].identifier,
                note: "the notification could not be stored")
        }
        record?.end(taken: judged, error: error)
        metrics.taken.increment(by: judged)
        if let error {
            metrics.refused(error.status)
            logger.debug(
                "a provider's connection ends", metadata: [LogKey.error: "status \(error.status): \(error.note)"])
        }
        return LegacySession.Outcome(lastTaken: judged > 0 ? pushes[judged - 1].identifier : nil, error: error)
    }

    private func decide(_ push: LegacyPush, _ certificate: [UInt8], ticket: Int32) async -> LegacyPushGate.Decision {
        do { return try await gate.decide(push, certificate: certificate, ticket: ticket) } catch {
            Self.failure.log(error, to: logger)
            return .refuse(
                .processingError, reason: APNsRejection(.serviceUnavailable, note: "the register could not be read"),
                owner: nil)
        }
    }

    private func recordRefusal(_ refusal: APNsRejection, _ owner: CertificateOwner) {
        _ = acceptor.recordRefusal(refusal, team: owner.team, topic: owner.topic.rawValue, apnsID: nil)
    }

    /// - Returns: The ticket of the first that is not durable, and whether that is because the server stops.
    private func accept(
        _ acceptances: [AcceptedNotification], _ record: LegacyRecord?
    ) async -> (failed: Int32?, isStopping: Bool) {
        guard !acceptances.isEmpty else { return (nil, false) }
        let collector = ResultCollector()
        let taken = await acceptor.acceptAll(acceptances, sink: collector)
        let results = await collector.results(count: taken)
        record?.accepted(acceptances, results: results)
        let failed = results.filter { $0.id == nil }.map(\.ticket).min()
        if let failed { return (failed, false) }
        return taken < acceptances.count ? (acceptances[taken].ticket, true) : (nil, false)
    }
}

/// Collects the results of one burst.
final class ResultCollector: AcceptanceSink {
    private struct State {
        var results: [AcceptanceResult] = []
        var waiting: (count: Int, continuation: CheckedContinuation<[AcceptanceResult], Never>)?
    }

    private let state = Mutex(State())

    func completed(_ results: [AcceptanceResult]) {
        let complete = state.withLock {
            state -> (CheckedContinuation<[AcceptanceResult], Never>, [AcceptanceResult])? in
            state.results += results
            guard let waiting = state.waiting, state.results.count >= waiting.count else { return nil }
            state.waiting = nil
            return (waiting.continuation, state.results)
        }
        if let (continuation, results) = complete { continuation.resume(returning: results) }
    }

    /// Waits for the given number of results; called once.
    func results(count: Int) async -> [AcceptanceResult] {
        await withCheckedContinuation { continuation in
            let complete = state.withLock { state -> [AcceptanceResult]? in
                if state.results.count >= count { return state.results }
                state.waiting = (count, continuation)
                return nil
            }
            if let complete { continuation.resume(returning: complete) }
        }
    }
}
