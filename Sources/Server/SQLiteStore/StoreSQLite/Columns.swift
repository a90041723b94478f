import APNsProtocol
import PushCore

extension DeviceID {
    var column: Int64 { Int64(rawValue) }
    init?(column: Int64) {
        guard column > 0 else { return nil }
        self.init(UInt64(column))
    }
}

extension AppID {
    var column: Int64 { Int64(rawValue) }
    init(column: Int64) { self.init(rawValue: UInt32(truncatingIfNeeded: column)) }
}

extension PushEnvironment {
    var column: Int64 { self == .production ? 1 : 0 }
    init(column: Int64) { self = column == 1 ? .production : .sandbox }
}

extension APNsID {
    /// The column is NULL where the server made the id.
    init(column: String?, of id: NotificationID) {
        self = column.map(APNsID.init(rawValue:)) ?? ServerAPNsID.apnsID(of: id)
    }
}
