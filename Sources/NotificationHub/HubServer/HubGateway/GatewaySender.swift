import APNsProtocol
import HubProtocol
import PushCore
import PushServer
import Synchronization

/// Sends to this server's own devices, through the acceptor that every endpoint uses.
package struct GatewaySender: PushSender {
    private let acceptor: any NotificationAcceptor
    private let apps: AppDirectory
    private let tokens: TokenDirectory
    private let environment: PushEnvironment

    /// Creates a sender to device tokens of one environment.
    package init(
        acceptor: any NotificationAcceptor, apps: AppDirectory, tokens: TokenDirectory, environment: PushEnvironment
    ) {
        self.acceptor = acceptor
        self.apps = apps
        self.tokens = tokens
        self.environment = environment
    }

    /// Examines each notification as the provider API does, and has those that pass accepted in bulk.
    package func deliver(_ pushes: [HubPush], of hub: HubRecord) async -> [PushVerdict?] {
        let (examined, acceptances) = await acceptances(pushes, of: hub)
        var verdicts = examined
        let sink = ResultSink()
        let taken = await acceptor.acceptAll(acceptances, sink: sink)
        for result in await sink.results(taken) {
            verdicts[Int(result.ticket)] = result.id.map { _ in .traced }
        }
        return verdicts
    }

    /// Examines each notification; those that pass count as accepted.
    package func examine(_ pushes: [HubPush], of hub: HubRecord) async -> [PushVerdict?] {
        var (verdicts, acceptances) = await acceptances(pushes, of: hub)
        for acceptance in acceptances { verdicts[Int(acceptance.ticket)] = .traced }
        return verdicts
    }

    /// Verdicts for the notifications that fail the checks, and acceptances for the others.
    private func acceptances(_ pushes: [HubPush], of hub: HubRecord) async -> ([PushVerdict?], [AcceptedNotification]) {
        var verdicts = [PushVerdict?](repeating: nil, count: pushes.count)
        let app: RegisteredApp?
        do { app = try await apps.find(hub.topic) } catch { return (verdicts, []) }
        guard let app, app.team == hub.team, app.isPushEnabled else {
            return (pushes.map { _ in PushVerdict(.invalidCredentials) }, [])
        }
        let resolutions: [TokenDirectory.Resolution]
        do { resolutions = try await self.resolutions(of: pushes) } catch { return (verdicts, []) }
        var acceptances: [AcceptedNotification] = []
        for (index, push) in pushes.enumerated() {
            switch examined(push, resolution: resolutions[index], app: app) {
            case .refused(let verdict): verdicts[index] = verdict
            case .fit(let subject, let notification):
                acceptances.append(
                    AcceptedNotification(app: app, subject: subject, notification: notification, ticket: Int32(index)))
            }
        }
        return (verdicts, acceptances)
    }

    /// Resolves each channel's token. Tokens that are not cached are read together.
    private func resolutions(of pushes: [HubPush]) async throws -> [TokenDirectory.Resolution] {
        var resolutions = [TokenDirectory.Resolution](repeating: .bad, count: pushes.count)
        var unknown: [(place: Int, token: DeviceToken)] = []
        for (place, push) in pushes.enumerated() {
            guard case .handle(let handle) = push.channel, let token = DeviceToken(text: handle) else { continue }
            resolutions[place] = tokens.known(token)
            if case .needsLookUp = resolutions[place] { unknown.append((place, token)) }
        }
        guard !unknown.isEmpty else { return resolutions }
        for (lookUp, found) in zip(unknown, try await tokens.find(unknown.map(\.token))) {
            resolutions[lookUp.place] = found
        }
        return resolutions
    }

    private enum Examination {
        case refused(PushVerdict)
        case fit(TokenSubject, Notification)
    }

    private func examined(
        _ push: HubPush, resolution: TokenDirectory.Resolution, app: RegisteredApp
    ) -> Examination {
        switch resolution {
        case .bad, .needsLookUp: return .refused(PushVerdict(.badChannel))
        case .ended(let instant): return .refused(PushVerdict(.expiredChannel, diedAt: instant))
        case .active(let subject):
            guard subject.environment == environment else { return .refused(PushVerdict(.wrongToken)) }
            guard subject.app == app.id else { return .refused(PushVerdict(.wrongChannel)) }
            return notification(push, app: app, subject: subject)
        }
    }

    private func notification(_ push: HubPush, app: RegisteredApp, subject: TokenSubject) -> Examination {
        let options: PushOptions
        do { options = try PushOptions(push.headers, now: acceptor.now) } catch {
            return .refused(PushVerdict(.invalidNotificationFormat))
        }
        guard push.body.count <= APNsPayloadLimit.bytes(for: options.pushType) else {
            return .refused(PushVerdict(.invalidNotificationSize, reason: "PayloadTooLarge"))
        }
        guard JSONScanner.fault(inObject: push.body) == nil else {
            return .refused(PushVerdict(.invalidNotificationFormat))
        }
        return .fit(
            subject,
            Notification(
                apnsID: push.id, topic: app.topic, pushType: options.pushType, priority: options.priority,
                expiry: options.expiry, collapseID: options.collapseID, content: .apns(push.body)))
    }
}

/// Collects the results of a list of acceptances.
private final class ResultSink: AcceptanceSink {
    private struct State {
        var results: [AcceptanceResult] = []
        var wanted: Int?
        var waiting: CheckedContinuation<[AcceptanceResult], Never>?
    }

    private let state = Mutex(State())

    func completed(_ results: [AcceptanceResult]) {
        finish { $0.results += results }
    }

    /// The results, once there are as many as were taken.
    func results(_ count: Int) async -> [AcceptanceResult] {
        await withCheckedContinuation { continuation in
            finish {
                $0.wanted = count
                $0.waiting = continuation
            }
        }
    }

    private func finish(_ change: (inout sending State) -> Void) {
        let done = state.withLock { state -> (CheckedContinuation<[AcceptanceResult], Never>, [AcceptanceResult])? in
            change(&state)
            guard let wanted = state.wanted, state.results.count >= wanted, let waiting = state.waiting else {
                return nil
            }
            state.waiting = nil
            return (waiting, state.results)
        }
        if let (continuation, results) = done { continuation.resume(returning: results) }
    }
}

extension PushVerdict {
    /// The verdict for a notification that this server accepted, with a timeline.
    fileprivate static var traced: PushVerdict {
        var verdict = PushVerdict(.success)
        verdict.isTraced = true
        return verdict
    }
}
