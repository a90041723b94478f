import AgentEngine
import AgentProtocol
import Logging
import Networking
import PushCore

/// The channels of UnifiedPush: subscriptions at the server, each with its endpoint.
extension ServerLink {
    /// Endpoints are needed, or channels have ended.
    package func askForChannels() { channelSignals.continuation.yield() }

    /// Asks the server for endpoints, and has it forget channels, until the task is cancelled.
    func runChannelLoop() async {
        var backOff = settings.backOff
        for await _ in channelSignals.stream {
            while !Task.isCancelled, await !processChannels() { await pause(&backOff) }
            backOff.reset()
        }
    }

    var channelDelegate: (any AppRequestDelegate)? { delegate as? any AppRequestDelegate }

    /// - Returns: `false` when there is a reason to try again soon.
    private func processChannels() async -> Bool {
        guard let store = parts.store as? any AppRequestStore else { return true }
        var last: PendingChannel?
        do {
            // Without an identity the loop of sessions is enrolling, and signals afterwards.
            while let identity {
                var pending = try store.pendingChannel()
                if pending == nil { pending = try uncheckedChannel(store) }
                guard let next = pending else { return true }
                // The answer to it was not stored.
                guard next != last else { return false }
                last = next
                guard await process(next, as: identity) else {
                    channelDelegate?.channelsUnavailable()
                    return false
                }
                // What the delegate stores is in the batch: the next reading must find it.
                delegate?.commitWrites()
                if case .known(_, let session) = next { progress.endpointsChecked = session }
            }
        } catch {
            delegate?.storeUnusable(error)
            return false
        }
        return true
    }

    /// A registration whose endpoint is asked for once more after a login: all endpoints begin with the server's address, which its
    /// operator may have changed.
    private func uncheckedChannel(_ store: any AppRequestStore) throws -> PendingChannel? {
        let session = progress.sessionLoggedIn
        guard progress.endpointsChecked != session else { return nil }
        guard let known = try store.channelWithEndpoint() else {
            progress.endpointsChecked = session
            return nil
        }
        return .known(known, session: session)
    }

    /// - Returns: Whether the server has answered.
    private func process(_ pending: PendingChannel, as identity: DeviceIdentity) async -> Bool {
        do throws(EnrolmentError) {
            switch pending {
            case .registration(let registration), .known(let registration, _):
                try await ask(for: registration, as: identity)
            case .ended(let channel):
                try await parts.enrolment.endChannel(identity, channel: channel)
                if self.identity == identity { channelDelegate?.channelEnded(channel) }
            }
            return true
        } catch .refused(let code) {
            logger.warning(
                "The server refused a request about a channel of UnifiedPush.", metadata: [LogKey.error: "\(code)"])
            // The answer belongs to the identity that asked, which may be another meanwhile.
            guard self.identity == identity else { return true }
            switch pending {
            case .registration(let registration): channelDelegate?.endpointRefused(of: registration)
            // It stays as it is: nobody has asked for another one.
            case .known: break
            case .ended(let channel): channelDelegate?.channelEnded(channel)
            }
            return true
        } catch .notAuthenticated {
            await examine(identity)
        } catch {
            logger.info(
                "The server could not be asked about a channel of UnifiedPush; it will be asked again.",
                metadata: [LogKey.error: "\(error.words)"])
        }
        return false
    }

    private func ask(for registration: UnifiedPushRegistration, as identity: DeviceIdentity)
        async throws(EnrolmentError)
    {
        let endpoint = try await parts.enrolment.registerChannel(
            identity, channel: registration.channel, key: registration.vapid)
        if self.identity == identity { channelDelegate?.endpointReceived(endpoint, of: registration) }
    }
}
