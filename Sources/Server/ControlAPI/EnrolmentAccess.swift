import PushModel

/// Who may enrol a new device. Devices that are known need only their own secret.
public enum EnrolmentAccess: Sendable {
    /// Anybody who reaches the listener.
    case open
    /// Whoever shows this key: `Authorization: Enrol KEY`.
    case key(Secret<String>)
    /// Nobody.
    case closed

    /// Whether an `Authorization` header lets a new device in.
    func admits(_ authorization: String?) -> Bool {
        switch self {
        case .open: return true
        case .closed: return false
        case .key(let secret):
            let key = secret.wrappedValue
            guard let authorization, let space = authorization.firstIndex(of: " "),
                authorization[..<space].lowercased() == "enrol", !key.isEmpty
            else { return false }
            return Self.isSame(authorization[authorization.index(after: space)...].utf8, key.utf8)
        }
    }

    /// Compares in a time that depends on the shown text's length only.
    private static func isSame(_ shown: some Collection<UInt8>, _ secret: some Collection<UInt8>) -> Bool {
        let secret = Array(secret)
        var difference: UInt8 = shown.count == secret.count ? 0 : 1
        for (index, byte) in shown.enumerated() { difference |= byte ^ secret[index % secret.count] }
        return difference == 0
    }
}
