/// The header fields of one message, in order, in one run of bytes.
///
/// Fields are addressed by index, `0 ..< count`. Names and values are raw bytes; nothing is validated here.
/// ``removeAll()`` keeps the capacity, so a block that is used again allocates nothing.
package struct HeaderBlock: Sendable, Hashable {
    @usableFromInline
    struct Field: Sendable, Hashable {
        @usableFromInline var nameStart: Int32
        @usableFromInline var valueStart: Int32
        @usableFromInline var valueEnd: Int32

        @inlinable
        init(nameStart: Int32, valueStart: Int32, valueEnd: Int32) {
            self.nameStart = nameStart
            self.valueStart = valueStart
            self.valueEnd = valueEnd
        }
    }

    @usableFromInline var bytes: [UInt8] = []
    @usableFromInline var fields: [Field] = []

    /// A block without fields; it holds no memory until the first is added.
    @inlinable
    package init() {}

    /// How many fields there are.
    @inlinable
    package var count: Int { fields.count }

    /// The sum of all names' and values' bytes.
    @inlinable
    package var byteCount: Int { bytes.count }

    /// Adds a field at the end.
    ///
    /// - Precondition: the block stays below 2 GiB; transports refuse far smaller ones first.
    @inlinable
    package mutating func append(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        let start = Int32(bytes.count)
        bytes.append(contentsOf: name)
        let middle = Int32(bytes.count)
        bytes.append(contentsOf: value)
        fields.append(Field(nameStart: start, valueStart: middle, valueEnd: Int32(bytes.count)))
    }

    /// Adds a field at the end, from texts.
    package mutating func append(_ name: String, _ value: String) {
        let start = Int32(bytes.count)
        bytes.append(contentsOf: name.utf8)
        let middle = Int32(bytes.count)
        bytes.append(contentsOf: value.utf8)
        fields.append(Field(nameStart: start, valueStart: middle, valueEnd: Int32(bytes.count)))
    }

    /// Adds a field at the end whose name is fixed in the code.
    @inlinable
    package mutating func append(_ name: StaticString, bytes value: some Sequence<UInt8>) {
        let start = Int32(bytes.count)
        bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        let middle = Int32(bytes.count)
        bytes.append(contentsOf: value)
        fields.append(Field(nameStart: start, valueStart: middle, valueEnd: Int32(bytes.count)))
    }

    /// Forgets every field and keeps the capacity.
    @inlinable
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        fields.removeAll(keepingCapacity: true)
    }

    /// Gives back the memory of an empty block that once held more than this many bytes, or 64 fields.
    package mutating func shrink(toBytes limit: Int) {
        guard fields.isEmpty else { return }
        if bytes.capacity > limit { bytes = [] }
        if fields.capacity > 64 { fields = [] }
    }

    /// The name of a field.
    @inlinable
    package func name(_ index: Int) -> ArraySlice<UInt8> {
        bytes[Int(fields[index].nameStart)..<Int(fields[index].valueStart)]
    }

    /// The value of a field.
    @inlinable
    package func value(_ index: Int) -> ArraySlice<UInt8> {
        bytes[Int(fields[index].valueStart)..<Int(fields[index].valueEnd)]
    }

    /// The value of a field as text; ill-formed UTF-8 is repaired.
    package func text(_ index: Int) -> String { String(decoding: value(index), as: UTF8.self) }

    /// The index of the first field of that name.
    package func first(_ name: StaticString) -> Int? {
        (0..<count).first { hasName($0, name) }
    }

    /// Whether a field has that name, compared byte for byte.
    @inlinable
    package func hasName(_ index: Int, _ name: StaticString) -> Bool {
        let field = fields[index]
        let length = Int(field.valueStart - field.nameStart)
        guard length == name.utf8CodeUnitCount else { return false }
        let start = Int(field.nameStart)
        return bytes.withUnsafeBufferPointer { all in
            let expected = name.utf8Start
            for offset in 0..<length where all[start + offset] != expected[offset] { return false }
            return true
        }
    }

    /// Calls `body` with the bytes of a field's name and value, without a copy.
    @inlinable
    package func withField<Result>(
        _ index: Int, _ body: (_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        let field = fields[index]
        return bytes.withUnsafeBufferPointer { all in
            body(
                UnsafeBufferPointer(rebasing: all[Int(field.nameStart)..<Int(field.valueStart)]),
                UnsafeBufferPointer(rebasing: all[Int(field.valueStart)..<Int(field.valueEnd)]))
        }
    }

    /// Calls `each` with every field's bytes and then `then`, during which all of them stay valid.
    @inlinable
    package func withUnsafeFields<Result>(
        _ each: (_ index: Int, _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Void,
        then: () -> Result
    ) -> Result {
        bytes.withUnsafeBufferPointer { all in
            for (index, field) in fields.enumerated() {
                each(
                    index, UnsafeBufferPointer(rebasing: all[Int(field.nameStart)..<Int(field.valueStart)]),
                    UnsafeBufferPointer(rebasing: all[Int(field.valueStart)..<Int(field.valueEnd)]))
            }
            return then()
        }
    }
}
