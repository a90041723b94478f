import PushModel
import RegisterCore
import Synchronization
import WebPushWire

/// What a device wire asks about browsers' registrations, so that it writes messages for them as their clients read them.
public protocol WebRegistrationSource: Sendable {
    /// Whether a device may have such registrations; answers at once. Most devices have none.
    func mayHave(_ device: DeviceID) -> Bool

    /// The registrations of a device; completes once, on any thread.
    func registrations(
        of device: DeviceID,
        then complete: @escaping @Sendable (Result<[WebRegistrationPlace: WebRegistration], any Error>) -> Void)
}

/// No device has a browser's registrations.
public struct NoWebRegistrations: WebRegistrationSource {
    /// Makes a source; it has no state.
    public init() {}

    /// Always `false`.
    public func mayHave(_ device: DeviceID) -> Bool { false }

    /// Completes at once, with none.
    public func registrations(
        of device: DeviceID,
        then complete: @escaping @Sendable (Result<[WebRegistrationPlace: WebRegistration], any Error>) -> Void
    ) { complete(.success([:])) }
}

/// Browsers' registrations from the register. In memory are only the ids of the devices that have some. Thread-safe.
public final class WebRegistrations: WebRegistrationSource {
    private let store: any FCMRegister
    private let apps: AppDirectory
    private let devices = Mutex<Set<DeviceID>>([])

    /// A directory that has read nothing yet.
    public init(store: any FCMRegister, apps: AppDirectory) {
        self.store = store
        self.apps = apps
    }

    /// Reads which devices have such registrations; once, before devices may connect.
    public func load() async throws {
        let known = try await store.devicesWithWebRegistrations()
        devices.withLock { $0.formUnion(known) }
    }

    /// A device has such a registration now. That of a device whose last one ends stays noted until the server ends.
    package func note(_ device: DeviceID) {
        devices.withLock { _ = $0.insert(device) }
    }

    /// Whether the device has had such a registration since the server began, or before.
    public func mayHave(_ device: DeviceID) -> Bool { devices.withLock { $0.contains(device) } }

    /// Reads them from the register, with the topics of their apps.
    public func registrations(
        of device: DeviceID,
        then complete: @escaping @Sendable (Result<[WebRegistrationPlace: WebRegistration], any Error>) -> Void
    ) {
        Task {
            do {
                var found: [WebRegistrationPlace: WebRegistration] = [:]
                for kept in try await store.webRegistrations(of: device) {
                    guard let app = try await apps.find(kept.app) else { continue }
                    found[WebRegistrationPlace(topic: app.topic, environment: kept.environment)] = kept.registration
                }
                complete(.success(found))
            } catch { complete(.failure(error)) }
        }
    }
}
