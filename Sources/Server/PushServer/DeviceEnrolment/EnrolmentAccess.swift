import Crypto
import PushCore

/// The rule for enrolling new devices. Known devices need only their own secret.
package enum EnrolmentAccess: Sendable {
    /// Every device may enrol.
    case open
    /// A device may enrol with this key, or one of the register's.
    case key(Secret<String>)
    /// A device may enrol only with a key of the register.
    case closed

    /// Whether the configuration alone admits a new device with a key, or with none.
    func admits(_ shown: String?) -> Bool {
        switch self {
        case .open: return true
        case .closed: return false
        case .key(let secret):
            let key = secret.wrappedValue
            guard let shown, !key.isEmpty else { return false }
            return ConstantTime.equal(shown.utf8, key.utf8)
        }
    }
}

/// Checks the keys that new devices present: the configured one, and those of the register.
package struct EnrolmentAdmission: Sendable {
    private let access: EnrolmentAccess
    private let keys: (any EnrolmentKeyRegister)?
    private let clock: @Sendable () -> Timestamp

    /// Creates an instance from its properties.
    ///
    /// - Parameter keys: The register's keys; `nil` for a server that has only the configured one.
    package init(
        _ access: EnrolmentAccess, keys: (any EnrolmentKeyRegister)? = nil, clock: @escaping @Sendable () -> Timestamp
    ) {
        self.access = access
        self.keys = keys
        self.clock = clock
    }

    /// Whether a new device needs a key.
    package var asksForKey: Bool {
        if case .open = access { false } else { true }
    }

    /// The longest key that is looked up, in bytes.
    private static let longestKey = 256

    /// The reason for the device why a key is refused; `nil` when it is accepted.
    ///
    /// - Parameter isCounted: Whether a device enrols with it now, which counts towards its quota. Otherwise a key that
    ///   is used up is accepted too: the last device that enrolled with it presents it again.
    /// - Throws: An error when the register cannot be read or written.
    package func refusal(of shown: String?, isCounted: Bool) async throws -> String? {
        if access.admits(shown) { return nil }
        guard let shown, let keys, shown.utf8.count <= Self.longestKey else {
            return "a new device enrols with the header Authorization: Enrol KEY, or with ?key=KEY"
        }
        let hash = Array(SHA256.hash(data: Array(shown.utf8)))
        switch try await keys.useEnrolmentKey(secretHash: hash, isCounted: isCounted, at: clock()) {
        case .valid: return nil
        case .unknown: return "the server has no such enrolment key"
        case .revoked: return "the enrolment key was revoked"
        case .expired: return "the enrolment key's time is over"
        case .usedUp where !isCounted: return nil
        case .usedUp: return "as many devices as the enrolment key is for have enrolled"
        }
    }

    /// The hash under which the register may have a presented key; `nil` where the configuration admits the device
    /// without one of the register's.
    package func registerHash(of shown: String?) -> [UInt8]? {
        guard !access.admits(shown), let shown, keys != nil, shown.utf8.count <= Self.longestKey else { return nil }
        return Array(SHA256.hash(data: Array(shown.utf8)))
    }

    /// Whether a device is blocked, as opposed to unknown.
    ///
    /// - Throws: An error when the register cannot be read.
    package func isBlocked(_ device: DeviceID) async throws -> Bool { try await keys?.isBlocked(device) ?? false }

    /// The key of a header `Authorization: Enrol KEY`; `nil` for another one.
    package static func key(ofHeader authorization: String?) -> String? {
        guard let authorization, let space = authorization.firstIndex(of: " "),
            authorization[..<space].lowercased() == "enrol"
        else { return nil }
        return String(authorization[authorization.index(after: space)...])
    }
}
