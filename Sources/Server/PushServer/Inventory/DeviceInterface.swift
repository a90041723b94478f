import APNsProtocol
import HTTPTypes
import Hummingbird
import PushCore

/// The routes of one device: `GET /v1/devices/{id}`, and on a listener without credentials `POST …/block`, `…/unblock` and
/// `…/revoke`, which do what the commands do.
package struct DeviceInterface: ControlInterface {
    private let store: any InventoryStore
    private let register: any RegisterStore & EnrolmentKeyRegister
    private let authentication: any ProviderAuthentication
    private let sealer: DeviceTokenSealer
    private let cell: UInt16
    private let sessions: any DeviceSessions
    private let clock: @Sendable () -> Timestamp

    /// Creates an instance from its properties.
    ///
    /// - Parameter cell: The cell number in this server's device tokens.
    package init(
        store: any InventoryStore, register: any RegisterStore & EnrolmentKeyRegister,
        authentication: any ProviderAuthentication, sealer: DeviceTokenSealer, cell: UInt16,
        sessions: any DeviceSessions, clock: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.register = register
        self.authentication = authentication
        self.sealer = sealer
        self.cell = cell
        self.sessions = sessions
        self.clock = clock
    }

    /// Adds the routes.
    package func add(to router: Router<ControlContext>, isSecured: Bool) {
        let access = ProviderAccess(authentication: isSecured ? authentication : nil)
        router.get("v1/devices/:id") { request, context in
            let team = try await access.team(request.headers[.authorization])
            return try await answer(device(context), team: team)
        }
        guard !isSecured else { return }
        router.post("v1/devices/:id/block") { request, context in
            _ = try await access.team(request.headers[.authorization])
            return try await setBlocked(device(context), true)
        }
        router.post("v1/devices/:id/unblock") { request, context in
            _ = try await access.team(request.headers[.authorization])
            return try await setBlocked(device(context), false)
        }
        router.post("v1/devices/:id/revoke") { request, context in
            _ = try await access.team(request.headers[.authorization])
            return try await revoke(device(context))
        }
    }

    private func device(_ context: ControlContext) throws -> DeviceID {
        let text = try context.parameters.require("id")
        guard let id = UInt64(text).flatMap(DeviceID.init) else {
            throw ControlError.invalid("\"\(text.prefix(20))\" is no device's id; a decimal number would be right")
        }
        return id
    }

    private func answer(_ device: DeviceID, team: TeamID?) async throws -> Response {
        guard let detail = try await store.device(device, team: team) else { throw Self.unknown(device) }
        return .json(try DeviceAnswer(detail, connection: await sessions.session(of: device), token: token))
    }

    private func token(_ app: DeviceDetail.App) throws -> String {
        let subject = TokenSubject(
            cell: cell, device: app.place.device, app: app.place.app, environment: app.place.environment,
            generation: app.generation)
        return try sealer.seal(subject).description
    }

    private func setBlocked(_ device: DeviceID, _ isBlocked: Bool) async throws -> Response {
        guard try await register.setBlocked(device, isBlocked, at: clock()) else {
            throw try await refusal(of: device, "\(isBlocked ? "" : "un")blocked")
        }
        if isBlocked { sessions.endSessions(of: [device]) }
        return .json(["device": device.description, "state": isBlocked ? "blocked" : "active"])
    }

    private func revoke(_ device: DeviceID) async throws -> Response {
        guard try await register.revokeDevice(device, at: clock()) else {
            throw try await refusal(of: device, "revoked")
        }
        sessions.endSessions(of: [device])
        return .json(["device": device.description, "state": "revoked"])
    }

    /// Why a device's state could not be changed.
    private func refusal(of device: DeviceID, _ change: String) async throws -> ControlError {
        guard let detail = try await store.device(device, team: nil) else { return Self.unknown(device) }
        return ControlError(
            status: .conflict, code: "conflict",
            message: "the device \(device) is \(detail.state.rawValue), and cannot be \(change)")
    }

    private static func unknown(_ device: DeviceID) -> ControlError {
        ControlError(status: .notFound, code: "notFound", message: "the register has no device \(device)")
    }
}
