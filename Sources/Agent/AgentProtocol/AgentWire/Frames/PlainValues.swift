// A message may leave a member out that has its plain value: the one that the Swift initializer gives it, else empty
// text.

extension KeyedDecodingContainer {
    /// A member, or its plain value where it is left out.
    func member<Value: Decodable>(_ key: Key, else plain: Value) throws -> Value {
        try decodeIfPresent(Value.self, forKey: key) ?? plain
    }
}
