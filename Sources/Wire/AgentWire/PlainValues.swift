// Members that have their plain value may be left out: that of the initializer where it names one, else empty text.

extension KeyedDecodingContainer {
    /// A member, or its plain value where it is left out.
    func member<Value: Decodable>(_ key: Key, else plain: Value) throws -> Value {
        try decodeIfPresent(Value.self, forKey: key) ?? plain
    }
}
