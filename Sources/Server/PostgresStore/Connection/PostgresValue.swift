import APNsProtocol
import PushCore
import PushServer

/// A value that is a parameter of statements and a column of rows.
protocol PostgresValue {
    /// The type of the parameter.
    static var kind: PostgresParameter.Kind { get }
    /// The binary form; `nil` for NULL.
    var encoded: [UInt8]? { get }
    /// The value with a binary form; `nil` stands for NULL.
    static func decode(_ bytes: UnsafeRawBufferPointer?) throws -> Self
}

extension PostgresValue {
    /// Why a column cannot be decoded.
    fileprivate static func fault(_ bytes: UnsafeRawBufferPointer?) -> PostgresError {
        PostgresError(code: "22000", message: "a column \(bytes == nil ? "is NULL or missing" : "is no \(Self.self)")")
    }
}

extension PostgresParameter {
    /// A single value.
    init(_ value: some PostgresValue) { self.init(kind: type(of: value).kind, bytes: value.encoded) }
}

extension Int64: PostgresValue {
    static var kind: PostgresParameter.Kind { .int8 }
    var encoded: [UInt8]? { withUnsafeBytes(of: bigEndian) { Array($0) } }

    /// Decodes a number of two, four or eight bytes.
    static func decode(_ bytes: UnsafeRawBufferPointer?) throws -> Int64 {
        guard let bytes, [2, 4, 8].contains(bytes.count) else { throw fault(bytes) }
        // The first byte has the sign.
        return bytes.dropFirst().reduce(Int64(Int8(bitPattern: bytes[0]))) { $0 << 8 | Int64($1) }
    }
}

extension Bool: PostgresValue {
    static var kind: PostgresParameter.Kind { .bool }
    var encoded: [UInt8]? { [self ? 1 : 0] }
    static func decode(_ bytes: UnsafeRawBufferPointer?) throws -> Bool {
        guard let bytes, bytes.count == 1 else { throw fault(bytes) }
        return bytes[0] != 0
    }
}

extension String: PostgresValue {
    static var kind: PostgresParameter.Kind { .text }
    var encoded: [UInt8]? { Array(withoutNUL.utf8) }
    static func decode(_ bytes: UnsafeRawBufferPointer?) throws -> String {
        guard let bytes else { throw fault(bytes) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension [UInt8]: PostgresValue {
    static var kind: PostgresParameter.Kind { .bytea }
    var encoded: [UInt8]? { self }
    static func decode(_ bytes: UnsafeRawBufferPointer?) throws -> [UInt8] {
        guard let bytes else { throw fault(bytes) }
        return Array(bytes)
    }
}

extension Optional: PostgresValue where Wrapped: PostgresValue {
    static var kind: PostgresParameter.Kind { Wrapped.kind }
    var encoded: [UInt8]? { flatMap(\.encoded) }
    static func decode(_ bytes: UnsafeRawBufferPointer?) throws -> Wrapped? {
        try bytes.map { try Wrapped.decode($0) }
    }
}

/// Numbers are stored with eight bytes, whatever their size in memory.
extension PostgresValue where Self: FixedWidthInteger {
    static var kind: PostgresParameter.Kind { .int8 }
    var encoded: [UInt8]? { Int64(self).encoded }
    static func decode(_ bytes: UnsafeRawBufferPointer?) throws -> Self {
        guard let value = Self(exactly: try Int64.decode(bytes)) else { throw fault(bytes) }
        return value
    }
}

extension Int: PostgresValue {}
extension UInt8: PostgresValue {}
extension UInt16: PostgresValue {}
extension UInt32: PostgresValue {}

extension PostgresValue where Self: RawRepresentable, RawValue: PostgresValue {
    static var kind: PostgresParameter.Kind { RawValue.kind }
    var encoded: [UInt8]? { rawValue.encoded }
    static func decode(_ bytes: UnsafeRawBufferPointer?) throws -> Self {
        guard let value = Self(rawValue: try RawValue.decode(bytes)) else { throw fault(bytes) }
        return value
    }
}

extension Timestamp: PostgresValue {}
extension NotificationID: PostgresValue {}
extension PayloadID: PostgresValue {}
extension AppID: PostgresValue {}
extension TeamID: PostgresValue {}
extension KeyID: PostgresValue {}
extension Topic: PostgresValue {}
extension APNsID: PostgresValue {}
extension TopicNumber: PostgresValue {}
extension PersonID: PostgresValue {}
/// Values that a later version may have written stand for the most common one.
extension Lane: PostgresValue {
    static func decode(_ bytes: UnsafeRawBufferPointer?) throws -> Lane {
        Lane(rawValue: try RawValue.decode(bytes)) ?? .apns
    }
}

extension Priority: PostgresValue {
    static func decode(_ bytes: UnsafeRawBufferPointer?) throws -> Priority {
        Priority(rawValue: try RawValue.decode(bytes)) ?? .immediate
    }
}

extension TimelineSource: PostgresValue {
    static func decode(_ bytes: UnsafeRawBufferPointer?) throws -> TimelineSource {
        TimelineSource(rawValue: try RawValue.decode(bytes)) ?? .server
    }
}

extension PostgresRow {
    /// The push type in a column; `nil` for NULL and for one of a later version.
    func pushType(_ column: String) throws -> PushType? { (try self[column] as String?).flatMap(PushType.init) }

    /// The `apns-id` in a column; the server's own where it is NULL.
    func apnsID(_ column: String, of id: NotificationID) throws -> APNsID {
        try self[column] as APNsID? ?? ServerAPNsID.apnsID(of: id)
    }
}

extension DeviceID: PostgresValue {
    static var kind: PostgresParameter.Kind { .int8 }
    var encoded: [UInt8]? { Int64(rawValue).encoded }
    static func decode(_ bytes: UnsafeRawBufferPointer?) throws -> DeviceID {
        guard let number = UInt64(exactly: try Int64.decode(bytes)), let device = DeviceID(number) else {
            throw fault(bytes)
        }
        return device
    }
}

extension PushEnvironment: PostgresValue {
    static var kind: PostgresParameter.Kind { .int8 }
    /// The number of the environment in columns.
    var column: Int64 { self == .production ? 1 : 0 }
    var encoded: [UInt8]? { column.encoded }
    static func decode(_ bytes: UnsafeRawBufferPointer?) throws -> PushEnvironment {
        try Int64.decode(bytes) == 1 ? .production : .sandbox
    }
}
