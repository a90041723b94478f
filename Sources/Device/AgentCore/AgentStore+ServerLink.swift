import DeviceLink
import DeviceModel
import DeviceStore
import PushModel

/// The store as the link to the server uses it.
extension AgentStore: ServerLinkStore {
    package func unconfirmed() throws -> [NotificationID] { try read { try $0.unconfirmed() } }

    package func receipts(after place: Int64, limit: Int) throws -> [(sequence: Int64, receipt: Receipt)] {
        try read { try $0.receipts(after: place, limit: limit) }
    }

    package func hasEndedRegistration(app: String, environment: PushEnvironment) throws -> Bool {
        try read { try $0.registration(app: app, environment: environment) } == .ended
    }

    package func registeredTeam(app: String, environment: PushEnvironment) throws -> TeamID? {
        try read { try $0.registeredTeam(app: app, environment: environment) }
    }
}
