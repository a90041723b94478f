import HubServer
import Logging
import PushCore
import Synchronization
import Testing

/// Keeps what is warned of.
private struct Warnings: LogHandler {
    let lines: @Sendable (String) -> Void
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines("\(event.message)") }
}

@Test func `a credential that ends within a month is warned of each day`() async throws {
    struct Over: Error {}
    let world = try await HubWorld()
    let day: Int64 = 86_400_000
    _ = try await world.database.setCredential(
        PushCredential(
            hub: world.hub.number, kind: .apnsCertificate, environment: .production, address: "https://a", name: "mine",
            owner: "o", secret: "s", expiresAt: world.clock.now.adding(milliseconds: 31 * day),
            createdAt: world.clock.now))
    let lines = Mutex<[String]>([])
    let counts = Mutex<[Int]>([])
    let watch = CredentialWatch(
        store: world.database, clock: world.clock.function,
        logger: Logger(
            label: "test",
            factory: { _ in
                Warnings(lines: { line in lines.withLock { $0.append(line) } })
            }))
    await watch.run { [clock = world.clock] wait in
        #expect(wait == .seconds(86_400))
        let days = counts.withLock { counts in
            counts.append(lines.withLock { $0.count })
            return counts.count
        }
        guard days < 4 else { throw Over() }
        clock.advance(milliseconds: day)
    }
    // It is 31 days off, then 30, 29 and 28.
    #expect(counts.withLock { $0 } == [0, 0, 1, 2])
    #expect(lines.withLock { $0 }.allSatisfy { $0.contains("hub todo") && $0.contains("mine") })
}
