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
                guard let next = try store.pendingChannel() else { return true }
                // The answer to it was not stored.
                guard next != last else { return false }
                last = next
                guard await process(next, as: identity) else {
                    channelDelegate?.channelsUnavailable()
                    return false
                }
                // What the delegate stores is in the batch: the next reading must find it.
                delegate?.commitWrites()
            }
        } catch {
            delegate?.storeUnusable(error)
            return false
        }
        return true
    }

    /// - Returns: Whether the server has answered.
    private func process(_ pending: PendingChannel, as identity: DeviceIdentity) async -> Bool {
        do throws(EnrolmentError) {
            switch pending {
            case .registration(let registration): try await ask(for: registration, as: identity)
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
