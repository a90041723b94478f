import AgentEngine
import AgentProtocol
import Logging
import Networking
import PushCore
import WebPushProtocol

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

    /// - Returns: `false` when there is a reason to try again soon.
    private func processChannels() async -> Bool {
        guard let store = parts.store as? any AppRequestStore else { return true }
        // Without an identity the session's keeper is enrolling, and signals afterwards.
        while let identity {
            do {
                let (registrations, ended) = try store.pendingChannels()
                if let channel = ended.first {
                    guard await end(channel, as: identity) else { return false }
                } else if let registration = registrations.first {
                    guard await ask(for: registration, as: identity) else { return false }
                } else {
                    return true
                }
                // What the delegate stores is in the batch: the next reading must find it.
                delegate?.commitWrites()
            } catch {
                delegate?.storeUnusable(error)
                return false
            }
        }
        return true
    }

    /// - Returns: Whether the server has answered.
    private func ask(for registration: UnifiedPushRegistration, as identity: DeviceIdentity) async -> Bool {
        let receiver = delegate as? any AppRequestDelegate
        do throws(EnrolmentError) {
            let endpoint = try await parts.enrolment.registerChannel(
                identity, channel: registration.channel, key: registration.vapid)
            // The answer belongs to the identity that asked, which may be another meanwhile.
            if self.identity == identity { receiver?.endpointReceived(endpoint, of: registration) }
            return true
        } catch .refused(let code) {
            logger.warning(
                "The server refused the registration of an app of UnifiedPush.",
                metadata: [LogKey.topic: "\(registration.service)", LogKey.error: "\(code)"])
            receiver?.endpointRefused(of: registration, code: code)
            return true
        } catch .notAuthenticated {
            await examine(identity)
        } catch {
            logger.info(
                "An app of UnifiedPush could not be registered; it will be tried again.",
                metadata: [LogKey.topic: "\(registration.service)", LogKey.error: "\(error.words)"])
        }
        receiver?.endpointRefused(of: registration, code: nil)
        return false
    }

    /// - Returns: Whether the server has answered.
    private func end(_ channel: PushChannelID, as identity: DeviceIdentity) async -> Bool {
        do throws(EnrolmentError) {
            try await parts.enrolment.endChannel(identity, channel: channel)
        } catch .refused(let code) {
            logger.warning(
                "The server refused to forget a channel of UnifiedPush.", metadata: [LogKey.error: "\(code)"])
        } catch .notAuthenticated {
            await examine(identity)
            return false
        } catch { return false }
        if self.identity == identity { (delegate as? any AppRequestDelegate)?.channelEnded(channel) }
        return true
    }
}
