import PushCore

/// A parameter of a statement, with its type also where it has no value.
package enum SQLParameter: Hashable, Sendable {
    /// A number of eight bytes.
    case integer(Int64?)
    /// A text.
    case text(String?)
    /// A byte string.
    case bytes([UInt8]?)
    /// A truth value.
    case truth(Bool?)
}

/// A value that is a parameter of statements and a column of rows.
package protocol SQLValue: Sendable {
    /// The parameter without a value.
    static var null: SQLParameter { get }
    /// The parameter with the value.
    var parameter: SQLParameter { get }
    /// Reads a column.
    ///
    /// - Throws: ``SQLColumnError``.
    static func read(_ column: String, of row: some SQLRow) throws -> Self
}

/// A column has no value of the type that a program expects.
package struct SQLColumnError: Error, Hashable, CustomStringConvertible {
    /// The name of the column.
    package var column: String

    /// Creates the error.
    package init(column: String) { self.column = column }

    /// The column, and what is wrong with it.
    package var description: String { "the column \(column) is NULL, is missing, or has a value of another kind" }
}

extension SQLColumnError {
    /// The value of a column; an error where it has none.
    fileprivate static func require<Value>(_ value: Value?, _ column: String) throws -> Value {
        guard let value else { throw SQLColumnError(column: column) }
        return value
    }
}

extension Int64: SQLValue {
    /// The parameter without a value.
    package static var null: SQLParameter { .integer(nil) }
    /// The parameter with the value.
    package var parameter: SQLParameter { .integer(self) }
    /// Reads a column.
    package static func read(_ column: String, of row: some SQLRow) throws -> Int64 {
        try SQLColumnError.require(try row.integer(in: column), column)
    }
}

extension String: SQLValue {
    /// The parameter without a value.
    package static var null: SQLParameter { .text(nil) }
    /// The parameter with the value.
    package var parameter: SQLParameter { .text(self) }
    /// Reads a column.
    package static func read(_ column: String, of row: some SQLRow) throws -> String {
        try SQLColumnError.require(try row.text(in: column), column)
    }
}

extension [UInt8]: SQLValue {
    /// The parameter without a value.
    package static var null: SQLParameter { .bytes(nil) }
    /// The parameter with the value.
    package var parameter: SQLParameter { .bytes(self) }
    /// Reads a column.
    package static func read(_ column: String, of row: some SQLRow) throws -> [UInt8] {
        try SQLColumnError.require(try row.bytes(in: column), column)
    }
}

extension Bool: SQLValue {
    /// The parameter without a value.
    package static var null: SQLParameter { .truth(nil) }
    /// The parameter with the value.
    package var parameter: SQLParameter { .truth(self) }
    /// Reads a column.
    package static func read(_ column: String, of row: some SQLRow) throws -> Bool {
        try SQLColumnError.require(try row.truth(in: column), column)
    }
}

extension Optional: SQLValue where Wrapped: SQLValue {
    /// The parameter without a value.
    package static var null: SQLParameter { Wrapped.null }
    /// The parameter with the value.
    package var parameter: SQLParameter { self?.parameter ?? Wrapped.null }
    /// Reads a column.
    package static func read(_ column: String, of row: some SQLRow) throws -> Wrapped? {
        switch Wrapped.null {
        case .integer: try row.integer(in: column) == nil ? nil : try Wrapped.read(column, of: row)
        case .text: try row.text(in: column) == nil ? nil : try Wrapped.read(column, of: row)
        case .bytes: try row.bytes(in: column) == nil ? nil : try Wrapped.read(column, of: row)
        case .truth: try row.truth(in: column) == nil ? nil : try Wrapped.read(column, of: row)
        }
    }
}

/// Numbers are stored with eight bytes, whatever their size in memory.
extension SQLValue where Self: FixedWidthInteger {
    /// The parameter without a value.
    package static var null: SQLParameter { .integer(nil) }
    /// The parameter with the value.
    package var parameter: SQLParameter { .integer(Int64(self)) }
    /// Reads a column.
    package static func read(_ column: String, of row: some SQLRow) throws -> Self {
        try SQLColumnError.require(try row.integer(in: column).flatMap { Self(exactly: $0) }, column)
    }
}

extension Int: SQLValue {}
extension UInt32: SQLValue {}

extension SQLValue where Self: RawRepresentable, RawValue: SQLValue {
    /// The parameter without a value.
    package static var null: SQLParameter { RawValue.null }
    /// The parameter with the value.
    package var parameter: SQLParameter { rawValue.parameter }
    /// Reads a column.
    package static func read(_ column: String, of row: some SQLRow) throws -> Self {
        try SQLColumnError.require(Self(rawValue: try RawValue.read(column, of: row)), column)
    }
}

extension Timestamp: SQLValue {}
extension NotificationID: SQLValue {}
extension TeamID: SQLValue {}
extension Topic: SQLValue {}
