import Foundation

/// How the classes of this module are archived: the value behind each as JSON, under one key.
///
/// Archives are for the app that made them; their layout is not Apple's.
enum WireCoding {
    private static let key = "aldaba"

    static func encode(_ value: some Encodable, with coder: NSCoder) {
        do {
            coder.encode(try JSONEncoder().encode(value) as NSData, forKey: key)
        } catch {
            coder.failWithError(error)
        }
    }

    /// The value of an archive; `nil` for an archive of something else.
    static func decode<Value: Decodable>(_ type: Value.Type, with coder: NSCoder) -> Value? {
        guard let data = coder.decodeObject(of: NSData.self, forKey: key) else { return nil }
        return try? JSONDecoder().decode(type, from: data as Data)
    }
}
