import PushModel

/// Where the keys are kept by which new devices enrol, and which devices are blocked; a port that stores implement.
public protocol EnrolmentKeyRegister: Sendable {
    /// Adds a key. - Throws: ``RegisterError/enrolmentKeyTaken(_:)``.
    func addEnrolmentKey(_ key: EnrolmentKey) async throws

    /// All keys, the oldest first, those that count no longer among them.
    func enrolmentKeys() async throws -> [EnrolmentKey]

    /// Revokes a key for good; `false` when there is none of that id, or it was revoked before.
    func revokeEnrolmentKey(_ id: String, at now: Timestamp) async throws -> Bool

    /// Asks for a key by the hash of its secret, and counts one use of it where that is asked for and the key counts.
    func useEnrolmentKey(secretHash: [UInt8], isCounted: Bool, at now: Timestamp) async throws -> EnrolmentKeyVerdict

    /// Blocks a device, or lets it in again. Its registrations stay.
    ///
    /// - Returns: `false` when there is no such device, or it is as asked already.
    func setBlocked(_ device: DeviceID, _ isBlocked: Bool, at now: Timestamp) async throws -> Bool

    /// Whether a device is blocked.
    func isBlocked(_ device: DeviceID) async throws -> Bool

    /// The devices after an id, in the order of their ids.
    func devices(after: DeviceID?, limit: Int) async throws -> [EnrolledDevice]
}

/// A key by which new devices enrol.
public struct EnrolmentKey: Hashable, Sendable {
    /// What people name it by; no secret.
    public var id: String
    /// SHA-256 of the secret.
    @Secret public var secretHash: [UInt8]
    /// How many devices may enrol by it; `nil` for any number.
    public var quota: Int?
    /// How many have.
    public var used: Int
    /// How many installations of apps are there that were made by it.
    public var installations: Int
    /// From when on it counts no longer; `nil` for never.
    public var expiresAt: Timestamp?
    /// When it was made.
    public var createdAt: Timestamp
    /// When it was revoked; `nil` while it was not.
    public var revokedAt: Timestamp?

    /// Brings the parts together.
    public init(
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

    /// How many installations of apps there may be for each device of the quota: a device has more than one app, and a library that
    /// has lost its installation makes another.
    public static let installationsPerDevice = 10

    /// How many installations there may be at a time that were made by it; `nil` for any number.
    public var installationLimit: Int? {
        quota.map { quota in
            let (limit, isTooLarge) = quota.multipliedReportingOverflow(by: Self.installationsPerDevice)
            return isTooLarge ? .max : limit
        }
    }

    /// Whether it lets a device in at an instant.
    public func verdict(at now: Timestamp) -> EnrolmentKeyVerdict {
        if revokedAt != nil { return .revoked }
        if let expiresAt, now >= expiresAt { return .expired }
        if let quota, used >= quota { return .usedUp }
        return .valid
    }
}

/// Whether a key lets a device in.
public enum EnrolmentKeyVerdict: String, Hashable, Sendable, CaseIterable {
    /// It does.
    case valid
    /// There is no such key.
    case unknown
    /// It was revoked.
    case revoked
    /// Its time is over.
    case expired
    /// As many devices as it is for have enrolled.
    case usedUp = "used_up"
}

/// A device as the register has it.
public struct EnrolledDevice: Hashable, Sendable {
    /// The device's id.
    public var device: DeviceID
    /// When it enrolled.
    public var enrolledAt: Timestamp
    /// When it was last noted that it is there, to the day; `nil` since its enrolment.
    public var seenAt: Timestamp?
    /// When it was blocked; `nil` while it is not.
    public var blockedAt: Timestamp?
    /// When it was revoked; `nil` while it was not.
    public var revokedAt: Timestamp?
    /// How many apps are registered on it.
    public var registrations: Int

    /// Brings the parts together.
    public init(
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
