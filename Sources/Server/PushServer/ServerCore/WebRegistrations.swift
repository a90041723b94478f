import FCMProtocol
import PushCore
import Synchronization

/// The source of browser registrations for a device wire, which writes messages for them in the form that their clients
/// read.
package protocol WebRegistrationSource: Sendable {
    /// Whether a device may have browser registrations; returns at once. Most devices have none.
    func mayHave(_ device: DeviceID) -> Bool

    /// Reads the registrations of a device; completes once, on any thread.
    func registrations(
        of device: DeviceID,
        then complete: @escaping @Sendable (Result<[WebRegistrationKey: WebRegistration], any Error>) -> Void)
}

/// A source without browser registrations.
package struct NoWebRegistrations: WebRegistrationSource {
    /// Creates a source; it has no state.
    package init() {}

    /// Always `false`.
    package func mayHave(_ device: DeviceID) -> Bool { false }

    /// Completes at once, with none.
    package func registrations(
        of device: DeviceID,
        then complete: @escaping @Sendable (Result<[WebRegistrationKey: WebRegistration], any Error>) -> Void
    ) { complete(.success([:])) }
}

/// Browser registrations from the register. Memory holds only the ids of the devices that have some. Thread-safe.
package final class WebRegistrations: WebRegistrationSource {
    private let store: any FCMRegister
    private let apps: AppDirectory
    private let isShared: Bool
    private let devices = Mutex<Set<DeviceID>>([])

    /// Creates a directory that has read nothing yet.
    ///
    /// - Parameter isShared: Whether other servers add registrations too: then the register is asked about each device.
    package init(store: any FCMRegister, apps: AppDirectory, isShared: Bool) {
        self.store = store
        self.apps = apps
        self.isShared = isShared
    }

    /// Reads which devices have browser registrations; once, before devices may connect.
    package func load() async throws {
        let known = try await store.devicesWithWebRegistrations()
        devices.withLock { $0.formUnion(known) }
    }

    /// Records that a device has a browser registration. A device whose last one ends stays recorded until the server
    /// ends.
    package func add(_ device: DeviceID) {
        devices.withLock { _ = $0.insert(device) }
    }

    /// Whether the device has had a browser registration since the server began, or before; of one that another server may have
    /// registered, nobody knows.
    package func mayHave(_ device: DeviceID) -> Bool { isShared || devices.withLock { $0.contains(device) } }

    /// Reads the registrations from the register, with the topics of their apps.
    package func registrations(
        of device: DeviceID,
        then complete: @escaping @Sendable (Result<[WebRegistrationKey: WebRegistration], any Error>) -> Void
    ) {
        Task {
            do {
                var found: [WebRegistrationKey: WebRegistration] = [:]
                for kept in try await store.webRegistrations(of: device) {
                    guard let app = try await apps.find(kept.app) else { continue }
                    found[WebRegistrationKey(topic: app.topic, environment: kept.environment)] = kept.registration
                }
                complete(.success(found))
            } catch { complete(.failure(error)) }
        }
    }
}
