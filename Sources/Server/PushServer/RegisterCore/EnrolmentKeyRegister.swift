import PushCore

/// Storage of the keys for enrolling new devices, and of the devices that are blocked; a port that stores implement.
package protocol EnrolmentKeyRegister: Sendable {
    /// Adds a key. - Throws: ``RegisterError/enrolmentKeyTaken(_:)``.
    func addEnrolmentKey(_ key: EnrolmentKey) async throws

    /// All keys, the oldest first, including those that are no longer valid.
    func enrolmentKeys() async throws -> [EnrolmentKey]

    /// Revokes a key for good; `false` when there is none with that id, or it was revoked before.
    func revokeEnrolmentKey(_ id: String, at now: Timestamp) async throws -> Bool

    /// Finds a key by the hash of its secret, and counts one use of it if `isCounted` is set and the key is valid.
    func useEnrolmentKey(secretHash: [UInt8], isCounted: Bool, at now: Timestamp) async throws -> EnrolmentKeyVerdict

    /// Blocks or unblocks a device. Its registrations stay.
    ///
    /// - Returns: `false` when there is no such device, or nothing changes.
    func setBlocked(_ device: DeviceID, _ isBlocked: Bool, at now: Timestamp) async throws -> Bool

    /// Whether a device is blocked.
    func isBlocked(_ device: DeviceID) async throws -> Bool

    /// The devices after an id, in the order of their ids.
    func devices(after: DeviceID?, limit: Int) async throws -> [EnrolledDevice]
}

/// A key for enrolling new devices.
package struct EnrolmentKey: Hashable, Sendable {
    /// The key's name for people; no secret.
    package var id: String
    /// SHA-256 of the secret.
    @Secret package var secretHash: [UInt8]
    /// The number of devices that may enrol with it; `nil` for any number.
    package var quota: Int?
    /// The number of devices that have enrolled with it.
    package var used: Int
    /// The present number of installations of apps that were made with it.
    package var installations: Int
    /// The time at which it expires; `nil` for never.
    package var expiresAt: Timestamp?
    /// The time at which it was made.
    package var createdAt: Timestamp
    /// The time at which it was revoked; `nil` while it was not.
    package var revokedAt: Timestamp?

    /// Creates an instance from its properties.
    package init(
        id: String, secretHash: [UInt8], quota: Int? = nil, used: Int = 0, installations: Int = 0,
        expiresAt: Timestamp? = nil, createdAt: Timestamp, revokedAt: Timestamp? = nil
    ) {
        self.id = id
        self.secretHash = secretHash
        self.quota = quota
        self.used = used
        self.installations = installations
        self.expiresAt = expiresAt
        self.createdAt = createdAt
        self.revokedAt = revokedAt
    }

    /// Whether a text can be a key's id: 1 to 64 letters, digits, `-` and `_`.
    package static func hasShape(id: String) -> Bool {
        (1...64).contains(id.utf8.count)
            && id.utf8.allSatisfy {
                (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0) || $0 == 45 || $0 == 95
            }
    }

    /// The maximum number of installations of apps for each device of the quota. A device has more than one app, and a
    /// library that has lost its installation makes another.
    package static let installationsPerDevice = 10

    /// The maximum number of present installations that were made with it; `nil` for any number.
    package var installationLimit: Int? {
        quota.map { quota in
            let (limit, isTooLarge) = quota.multipliedReportingOverflow(by: Self.installationsPerDevice)
            return isTooLarge ? .max : limit
        }
    }

    /// Whether it is valid for enrolment at an instant.
    package func verdict(at now: Timestamp) -> EnrolmentKeyVerdict {
        if revokedAt != nil { return .revoked }
        if let expiresAt, now >= expiresAt { return .expired }
        if let quota, used >= quota { return .usedUp }
        return .valid
    }
}

/// The verdict on a key for enrolment.
package enum EnrolmentKeyVerdict: String, Hashable, Sendable, CaseIterable {
    /// The key is valid.
    case valid
    /// There is no such key.
    case unknown
    /// The key was revoked.
    case revoked
    /// The key has expired.
    case expired
    /// The quota of devices is used up.
    case usedUp = "used_up"
}

/// A device in the register.
package struct EnrolledDevice: Hashable, Sendable {
    /// The device's id.
    package var device: DeviceID
    /// The time at which it enrolled.
    package var enrolledAt: Timestamp
    /// The time at which its presence was last recorded, to the day; `nil` if never since its enrolment.
    package var seenAt: Timestamp?
    /// The time at which it was blocked; `nil` while it is not.
    package var blockedAt: Timestamp?
    /// The time at which it was revoked; `nil` while it was not.
    package var revokedAt: Timestamp?
    /// The number of apps that are registered on it.
    package var registrations: Int

    /// Creates an instance from its properties.
    package init(
        device: DeviceID, enrolledAt: Timestamp, seenAt: Timestamp?, blockedAt: Timestamp?, revokedAt: Timestamp?,
        registrations: Int
    ) {
        self.device = device
        self.enrolledAt = enrolledAt
        self.seenAt = seenAt
        self.blockedAt = blockedAt
        self.revokedAt = revokedAt
        self.registrations = registrations
    }
}
