import PushCore

/// Everything that a server stores of pushes, with its register, the console's people and the audit log; one database holds it.
package protocol ServerStore: NotificationStore, TopicStore, AppMessageStore, ReportStore, InventoryStore {
    /// The type of the register.
    associatedtype Register: ServerStoreRegister
    /// The type of the console's people.
    associatedtype People: PeopleStore
    /// The type of the audit log.
    associatedtype Audit: AuditStore

    /// The register, in the same database.
    var register: Register { get }
    /// The people of the console, in the same database.
    var people: People { get }
    /// The audit log, in the same database.
    var audit: Audit { get }

    /// Ends the use of the database.
    func close() throws
}

/// All ports of the register.
package protocol ServerStoreRegister: RegisterStore, CertificateRegister, TeamRegister, ServiceAccountRegister,
    DeviceGroupRegister, EnrolmentKeyRegister, FCMRegister, FeedbackStore, ChannelRegister, WebChannelRegister
{
    /// The blocked devices that were not revoked, each with the time since which it is blocked.
    func blockedDevices() async throws -> [DeviceID: Timestamp]

    /// Blocks the thread until ``RegisterStore/registerVersion`` differs from a known one, for at most the given time in
    /// milliseconds.
    func waitForRegisterChange(since version: UInt64, milliseconds: Int32)
}
