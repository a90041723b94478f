import Foundation

/// How the classes of this module are archived: the value behind each as JSON, under one key.
///
/// Archives are for the app that made them; their layout is not Apple's.
enum WireCoding {
    private static let key = "aldaba"

    static func encode(_ value: some Encodable, with coder: NSCoder) {
        // JSON can represent all these values, but for an infinite number; an archive without a value is read as none.
        if let json = try? JSONEncoder().encode(value) { coder.encode(json as NSData, forKey: key) }
    }

    /// Whether the coder is a hand-written subclass, as tests use to make objects that only the system can make. It
    /// implements `decodeObject(forKey:)`, and perhaps nothing else.
    static func isHandWritten(_ coder: NSCoder) -> Bool {
        ![NSCoder.self, NSKeyedArchiver.self, NSKeyedUnarchiver.self].contains { $0 == type(of: coder) }
    }

    /// The value of an archive; `nil` for an archive of something else.
    static func decode<Value: Decodable>(_ type: Value.Type, with coder: NSCoder) -> Value? {
        // A hand-written coder has none of these methods: only an unarchiver is asked.
        guard coder is NSKeyedUnarchiver, coder.containsValue(forKey: key),
            let data = coder.decodeObject(of: NSData.self, forKey: key)
        else {
            return nil
        }
        return try? JSONDecoder().decode(type, from: data as Data)
    }
}
