import AldabaTestSupport
import PushCore
import Synchronization

@testable import PushServer

/// A register in memory that counts how often it is read, and holds reads back or lets them fail.
final class CountingRegister: RegisterStore {
    struct Failure: Error {}

    /// What a test lets happen to reads.
    struct Behaviour: Sendable {
        var fails = false
        /// Opened when a read has taken its snapshot.
        var entered: Latch?
        /// Awaited then, before the read answers.
        var released: Latch?
    }

    struct Contents: Sendable {
        var reads = 0
        var version: UInt64 = 1
        var behaviour = Behaviour()
        var apps: [RegisteredApp] = []
        var keys: [ProviderKey] = []
        var registration: Registration?
    }

    private let contents = Mutex(Contents())

    var reads: Int { contents.withLock { $0.reads } }

    var registerVersion: UInt64 { contents.withLock { $0.version } }

    /// Changes what the register holds, as a command beside the server does.
    func change(_ body: (inout Contents) -> Void) {
        contents.withLock {
            body(&$0)
            $0.version += 1
        }
    }

    /// Changes what the register holds, and nobody is told: its version stays.
    func changeUntold(_ body: (inout Contents) -> Void) { contents.withLock { body(&$0) } }

    /// Changes registrations, as this server itself does: of those it tells its directories.
    func changeRegistrations(_ body: (inout Contents) -> Void) { contents.withLock { body(&$0) } }

    /// Changes how reads go; the register stays as it is.
    func behave(_ behaviour: Behaviour) { contents.withLock { $0.behaviour = behaviour } }

    /// Lets the reads that begin from now on wait.
    func hold() -> (entered: Latch, released: Latch) {
        let (entered, released) = (Latch(), Latch())
        behave(Behaviour(entered: entered, released: released))
        return (entered, released)
    }

    private func read<Value: Sendable>(_ value: @Sendable (Contents) -> Value) async throws -> Value {
        let (behaviour, value) = contents.withLock { contents in
            contents.reads += 1
            return (contents.behaviour, value(contents))
        }
        behaviour.entered?.open()
        await behaviour.released?.wait()
        if behaviour.fails { throw Failure() }
        return value
    }

    func apps() async throws -> [RegisteredApp] { try await read { $0.apps } }

    func providerKeys() async throws -> [ProviderKey] { try await read { $0.keys } }

    func registration(
        device: DeviceID, app: AppID, environment: PushEnvironment
    ) async throws -> Registration? { try await read { $0.registration } }

    func registrations(of subjects: [TokenSubject]) async throws -> [Registration?] {
        try await read { contents in subjects.map { _ in contents.registration } }
    }

    func activeRegistrations(of devices: [DeviceID], cell: UInt16) async throws -> [TokenSubject] { throw Failure() }

    // The directories only read.

    func addApp(topic: Topic, team: TeamID, policy: MailboxPolicy, at now: Timestamp) async throws -> RegisteredApp {
        throw Failure()
    }

    func removeApp(topic: Topic, at now: Timestamp) async throws -> RegisteredApp? { throw Failure() }

    func revokeProviderKey(_ keyID: KeyID, at now: Timestamp) async throws -> ProviderKey? { throw Failure() }

    func revokeDevice(_ device: DeviceID, at now: Timestamp) async throws -> Bool { throw Failure() }

    func devicesRevoked(since instant: Timestamp) async throws -> [DeviceID] { throw Failure() }

    func addProviderKey(_ key: ProviderKey) async throws { throw Failure() }

    func addDevice(_ device: DeviceID, secretHash: [UInt8], at now: Timestamp) async throws -> Bool { throw Failure() }

    func secretHash(of device: DeviceID) async throws -> [UInt8]? { throw Failure() }

    func register(
        device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws -> Registration { throw Failure() }

    func setEncryptionKey(
        _ key: RecipientPublicKey?, device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws { throw Failure() }

    func encryptionKey(
        device: DeviceID, app: AppID, environment: PushEnvironment
    ) async throws -> RecipientPublicKey? { throw Failure() }

    func endRegistration(
        device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws -> Registration? { throw Failure() }
}
