import APNsProtocol
import AldabaTestSupport
import PushServer
import StoreMemory

/// A register of channels that a test lets fail.
final class FailingChannels: ChannelRegister {
    struct Failure: Error {}

    private let base: MemoryStore
    /// While it is set, nothing can be read or written.
    let isFailing = Flag()

    init(_ base: MemoryStore) { self.base = base }

    private func check() throws { if isFailing.load() { throw Failure() } }

    func addChannel(_ channel: BroadcastChannel, limit: Int) async throws -> Bool {
        try check()
        return try await base.addChannel(channel, limit: limit)
    }

    func removeChannel(_ id: ChannelID, of place: AppPlace) async throws -> Bool {
        try check()
        return try await base.removeChannel(id, of: place)
    }

    func channel(_ id: ChannelID, of place: AppPlace) async throws -> BroadcastChannel? {
        try check()
        return try await base.channel(id, of: place)
    }

    func channels(of place: AppPlace) async throws -> [BroadcastChannel] {
        try check()
        return try await base.channels(of: place)
    }
}
