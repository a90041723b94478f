import APNsProtocol
import PushCore
import PushServer

extension MemoryStore: ChannelRegister {
    /// Counts and stores under one lock.
    package func addChannel(_ channel: BroadcastChannel, limit: Int) async throws -> Bool {
        let place = AppPlace(app: channel.app, environment: channel.environment)
        return state.withLock { state in
            guard state.register.broadcastChannels[place, default: [:]].count < limit else { return false }
            state.register.broadcastChannels[place, default: [:]][channel.id] = channel
            return true
        }
    }

    /// Deletes the channel.
    package func removeChannel(_ id: ChannelID, of place: AppPlace) async throws -> Bool {
        state.withLock { $0.register.broadcastChannels[place]?.removeValue(forKey: id) != nil }
    }

    /// The channel as it was stored.
    package func channel(_ id: ChannelID, of place: AppPlace) async throws -> BroadcastChannel? {
        state.withLock { $0.register.broadcastChannels[place]?[id] }
    }

    /// The channels of the app.
    package func channels(of place: AppPlace) async throws -> [BroadcastChannel] {
        state.withLock {
            ($0.register.broadcastChannels[place] ?? [:]).values.sorted {
                $0.id.bytes.lexicographicallyPrecedes($1.id.bytes)
            }
        }
    }
}
