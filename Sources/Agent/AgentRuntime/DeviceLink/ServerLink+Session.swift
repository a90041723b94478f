import AgentEngine
import AgentProtocol
import Logging
import Networking
import Platform
import PushCore

/// A session with the server, from its attempt to its end.
struct Session {
    var number: Int
    var connection: any PushConnection
    /// The task that waits for the session's end.
    var ended: CheckedContinuation<PushCloseReason, Never>
}

/// The session with the server: its conditions, and its messages.
extension ServerLink {
    /// Why no session is open, as the log has it; `nil` where one is, or none was tried yet.
    package var fault: String? { isOpen ? nil : progress.fault }

    /// Whether a session is open: the server takes what is sent, and sends what it has.
    package var isOpen: Bool { session != nil && progress.sessionLoggedIn == progress.sessionCount }

    /// This device's id; `nil` until it is enrolled.
    package var device: DeviceID? { identity?.device }

    /// The number of the session that there is, from its attempt to its end.
    package var sessionNumber: Int? { session?.number }

    /// Acknowledges what came over a session.
    package func acknowledge(_ ids: [NotificationID], in number: Int) {
        guard let session, session.number == number else { return }
        session.connection.acknowledge(ids)
    }

    /// Sends something for another device; it is lost where no session is open.
    package func relay(_ frame: [UInt8]) { session?.connection.relay(frame) }

    /// Finds out whether the session outlived the machine's sleep; where it did not, another is opened.
    package func probeSession() { session?.connection.probe() }

    /// Ends the session; another is opened after a pause.
    package func closeSession() { session?.connection.close() }

    /// Enrols where needed and keeps one session open until the task is cancelled.
    func runSessionLoop() async {
        var backOff = settings.backOff
        while !Task.isCancelled {
            guard let identity = await enrolled(&backOff) else { return }
            let opened = progress.sessionCount
            let reason = await runSession(identity)
            if Task.isCancelled { return }
            // A server that takes the login and then ends the session is not asked again and again at once. On a bad
            // network, where no session lasts, each brings something.
            if progress.sessionLoggedIn == opened + 1,
                progress.sessionCarried == opened + 1 || parts.sinceBoot() - progress.loggedInAt >= Self.steadyAfter
            {
                backOff.reset()
            }
            var shortest: Int64 = 0
            switch reason {
            case .loginRefused: await examine(identity)
            case .busy(let pause):
                shortest = min(pause, Self.longestAskedPause)
                logger.info("The server has too many logins; it will be asked again when it says.")
                progress.fault = "the server has too many logins now"
                delegate?.sessionClosed(reason: "the server has too many logins now")
            case .lost(let why):
                logger.info("The session ended; it will be opened again.", metadata: [LogKey.error: "\(why)"])
                progress.fault = why
                delegate?.sessionClosed(reason: why)
            }
            await pause(&backOff, atLeast: shortest)
        }
    }

    /// How long a session without notifications must have lasted since its login for the pauses to start again from the
    /// shortest, in milliseconds.
    private static let steadyAfter: Int64 = 10_000
    /// A server can ask a device to stay away, but for no longer than this, in milliseconds.
    private static let longestAskedPause: Int64 = 600_000

    // MARK: Enrolment

    /// This device's identity, asked for until there is one; `nil` when the task was cancelled.
    private func enrolled(_ backOff: inout BackOff) async -> DeviceIdentity? {
        while !Task.isCancelled {
            if let identity { return identity }
            do throws(EnrolmentError) {
                let new = try await parts.enrolment.checkIn(known: nil)
                try adopt(new)
                backOff.reset()
                return new
            } catch {
                progress.fault = "this device could not enrol: \(error.words)"
                logger.warning(
                    "This device could not enrol; it will try again.",
                    metadata: [
                        LogKey.error: "\(error.words)"
                    ])
                delayEnds()
                channelDelegate?.channelsUnavailable()
                await pause(&backOff)
            }
        }
        return nil
    }

    private func adopt(_ new: DeviceIdentity) throws(EnrolmentError) {
        let wishing: [BundleID]
        do {
            wishing = try appsWithTokens()
            try parts.store.save(new)
        } catch {
            throw .unavailable("the agent's store: \(error)")
        }
        identity = new
        logger.notice("This device is enrolled.", metadata: [LogKey.device: "\(new.device)"])
        delegate?.enrolled(as: new.device)
        requestTokens(wishing)
    }

    /// The apps that have not ended their registrations.
    private func appsWithTokens() throws -> [BundleID] {
        try registrations.installedApps.filter {
            try !parts.store.hasEndedRegistration(app: $0, environment: settings.environment)
        }
    }

    /// Requests the apps' tokens; an app that has ended its registration meanwhile goes on wanting that.
    private func requestTokens(_ apps: [BundleID]) {
        for app in apps where registrations.requestedChange(of: app) != .end { requestToken(app) }
        registrationSignals.continuation.yield()
    }

    /// Asks the server whether it still knows this device, and forgets the identity when it does not.
    func examine(_ doubted: DeviceIdentity) async {
        guard identity == doubted else { return }
        do throws(EnrolmentError) {
            _ = try await parts.enrolment.checkIn(known: doubted)
            progress.fault = "the server refused this device's login, and knows it all the same"
            logger.warning("The server refused this device's login, and knows it all the same; trying again.")
            // A server that was restored from a backup knows the device again, and not yet its apps.
            do { requestTokens(try appsWithTokens()) } catch { delegate?.storeUnusable(error) }
        } catch .notAuthenticated {
            guard identity == doubted else { return }
            logger.warning(
                "The server does not know this device; it enrols anew.",
                metadata: [
                    LogKey.device: "\(doubted.device)"
                ])
            do {
                delegate?.commitWrites()
                try parts.store.forgetIdentity()
                identity = nil
                (delegate as? any AppRequestDelegate)?.endpointsLost()
                closeSession()
            } catch {
                delegate?.storeUnusable(error)
            }
        } catch {
            progress.fault = "the server refused this device's login, and could not be asked about it: \(error.words)"
            logger.warning(
                "The server could not be asked about this device.",
                metadata: [
                    LogKey.error: "\(error.words)"
                ])
        }
    }

    // MARK: Messages of the session

    private func runSession(_ identity: DeviceIdentity) async -> PushCloseReason {
        delegate?.commitWrites()
        let received: [NotificationID]
        do {
            received = try parts.store.unconfirmed()
        } catch {
            return .lost("the agent's store: \(error)")
        }
        progress.sessionCount += 1
        let number = progress.sessionCount
        let connection = parts.connector.connect(identity, received: received) { [weak self] event in
            self?.enter { $0.handle(event, of: number) }
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                session = Session(number: number, connection: connection, ended: continuation)
            }
        } onCancel: {
            connection.close()
        }
    }

    private func handle(_ event: PushEvent, of number: Int) {
        guard session?.number == number else { return }
        switch event {
        case .arrived, .confirmed, .reportConfirmed: progress.sessionCarried = number
        case .loggedIn, .refused, .relayed, .closed: break
        }
        switch event {
        case .loggedIn:
            progress.sessionLoggedIn = number
            progress.loggedInAt = parts.sinceBoot()
            receipts.sessionOpened()
            upstream.sessionOpened()
            sendReceipts()
            sendUpstream()
            topicsCommitted()
            askForChannels()
            endPauses()
            logger.info("The session is open.", metadata: [LogKey.session: "\(number)"])
            delegate?.sessionOpened()
        case .arrived(let notifications): delegate?.notificationsArrived(notifications, in: number)
        case .confirmed(let ids): delegate?.confirmed(ids)
        case .reportConfirmed(let batches):
            upstreamConfirmed(batches)
            for places in batches.compactMap({ receipts.confirmed($0) }) { delegate?.receiptsConfirmed(places) }
        case .refused(let name, let code): upstream.refused(name, code: code)
        case .relayed(let frame): delegate?.relayed(frame)
        case .closed(let reason):
            if progress.sessionLoggedIn == number { delegate?.relayingEnded() }
            receipts.sessionClosed()
            upstream.sessionClosed()
            let ended = session?.ended
            session = nil
            ended?.resume(returning: reason)
        }
    }

    /// Receipts were committed: they go upstream as soon as the flow allows.
    package func receiptsCommitted() {
        receipts.committed()
        sendReceipts()
    }

    /// Sends what the outbox holds, as far as the flow allows.
    private func sendReceipts() {
        guard let session else { return }
        while let place = receipts.readAfter {
            do {
                let page = try parts.store.receipts(after: place, limit: ReceiptFlow.batchLimit)
                guard let batch = receipts.batch(page.map(\.sequence)) else { return }
                session.connection.report(page.map(\.receipt), as: batch)
                delegate?.reporting(page.map(\.receipt))
            } catch {
                delegate?.storeUnusable(error)
                return
            }
        }
    }
}

extension EnrolmentError {
    /// The failure's description, for people.
    package var words: String {
        switch self {
        case .notAuthenticated: "the server wants a valid enrolment key (ALDABA_ENROLMENT_KEY)"
        case .refused(let code): "the server refused: \(code)"
        case .unavailable(let why): why
        }
    }
}
