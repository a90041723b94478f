import HTTPTypes
import Hummingbird
import PushCore
import PushServer
import RelayProtocol
import SQLiteStore

/// The route `GET /v1/relay/accounts`, on listeners without credentials alone: accounts are of no team.
package struct RelayAccountsInterface: ControlInterface {
    private let database: RelayDatabase
    private let sessions: any DeviceSessions

    /// Creates an instance from its properties.
    package init(database: RelayDatabase, sessions: any DeviceSessions) {
        self.database = database
        self.sessions = sessions
    }

    /// The number of accounts in an answer.
    private static let limit = 100

    /// Adds the route.
    package func add(to router: Router<ControlContext>, isSecured: Bool) {
        guard !isSecured else { return }
        let access = ProviderAccess(authentication: nil)
        router.get("v1/relay/accounts") { request, _ in
            _ = try await access.team(request.headers[.authorization])
            return try await accounts(after: request.uri.queryParameters["after"].map(String.init))
        }
    }

    private func accounts(after text: String?) async throws -> Response {
        var after: [UInt8]?
        if let text {
            guard let bytes = Self.hash(text) else {
                throw ControlError.invalid(
                    "after is \"\(text.prefix(20))\"; what an answer said as next would be right")
            }
            after = bytes
        }
        let found: [RelayAccount]
        do { found = try await database.accounts(after: after, limit: Self.limit + 1) } catch let fault
            as DatabaseFault
        {
            throw ControlError(status: .serviceUnavailable, code: "unavailable", message: fault.reason)
        }
        var answer = AccountsAnswer(accounts: [])
        for account in found.prefix(Self.limit) { answer.accounts.append(await item(account)) }
        if found.count > Self.limit { answer.next = answer.accounts.last?.account }
        return .json(answer)
    }

    /// The bytes of a hash of 64 hexadecimal digits; `nil` for anything else.
    private static func hash(_ text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap(Hexadecimal.value)
        guard digits.count == 64, text.utf8.count == 64 else { return nil }
        return stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    private func item(_ account: RelayAccount) async -> AccountsAnswer.Account {
        var devices: [AccountsAnswer.Device] = []
        for device in account.devices {
            let described = device.stored.device
            var isOnline = device.isOnline
            if !isOnline, let id = UInt64(described.id).flatMap(DeviceID.init) {
                isOnline = await sessions.session(of: id) != nil
            }
            devices.append(
                AccountsAnswer.Device(
                    device: described.id, kind: described.kind, platform: described.platform,
                    presence: isOnline ? "online" : device.stored.wake != nil ? "wakeable" : "offline",
                    seenAt: Timestamp(rawValue: device.stored.seen).description,
                    wakesBy: device.stored.wake?.service.rawValue, apps: described.apps.count,
                    messages: device.messages))
        }
        return AccountsAnswer.Account(
            account: Hexadecimal.text(account.hash), devices: devices, documents: account.documents,
            documentBytes: account.documentBytes)
    }
}

/// A page of accounts in the form of the API.
private struct AccountsAnswer: Encodable {
    struct Account: Encodable {
        /// The hash of the account's access token.
        var account: String
        var devices: [Device]
        var documents: Int
        var documentBytes: Int
    }

    struct Device: Encodable {
        var device: String
        var kind: String
        var platform: String
        /// `online`, `wakeable`, or `offline`.
        var presence: String
        var seenAt: String
        /// The push service by which it can be woken.
        var wakesBy: String?
        /// The number of its apps that others can reach.
        var apps: Int
        /// The number of sealed messages that wait for it.
        var messages: Int
    }

    var accounts: [Account]
    var next: String?
}
