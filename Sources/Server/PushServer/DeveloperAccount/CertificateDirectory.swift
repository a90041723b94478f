import APNsProtocol
import PushCore
import Synchronization

/// Cached verdicts on the certificates that providers present when they connect.
///
/// The TLS handshake has proven that the peer has the private key. Whether the certificate is in the register, or
/// signed by an authority of the register, is checked here. Thread-safe. Every verdict is that of the register's
/// present version, so that a revoked certificate is refused at the next request, even on an open connection.
package final class CertificateDirectory: Sendable {
    /// A certificate that was found valid; its period of validity is checked on every request.
    package struct Credential: Hashable, Sendable {
        /// The team that owns the certificate.
        package var team: TeamID
        /// The certificate's id in the register, or that of the authority that signed it.
        package var id: String
        /// The parsed certificate.
        package var certificate: ProviderCertificate
        /// The team's authority that signed it; `nil` where the register has the certificate itself.
        package var authority: CertificateAuthority?
        /// Whether the register has neither it nor an authority, and it is accepted for tests: at any time, in any environment.
        package var isUnknown = false

        /// Creates a credential; nothing is checked.
        package init(
            team: TeamID, id: String, certificate: ProviderCertificate, authority: CertificateAuthority? = nil
        ) {
            self.team = team
            self.id = id
            self.certificate = certificate
            self.authority = authority
        }

        /// The refusal of a certificate that is not valid now, or not in an environment.
        package func refusal(at now: Timestamp, in environment: PushEnvironment) -> APNsRejection? {
            guard !isUnknown else { return nil }
            if let refusal = certificate.refusal(at: now) { return refusal }
            if let authority, !authority.isValid(at: now) {
                return APNsRejection(
                    .badCertificate,
                    note: "the authority \(id) is valid from \(authority.notBefore) to \(authority.notAfter)")
            }
            guard certificate.environments.contains(environment) else {
                return APNsRejection(
                    .badCertificateEnvironment,
                    note: "the certificate of \(certificate.bundleID) is not for \(environment)")
            }
            return nil
        }

        /// The topic of a request.
        ///
        /// - Parameter topic: The value of `apns-topic`; `nil` where there is none.
        /// - Throws: `MissingTopic` where the certificate has several topics, `TopicDisallowed` where it does not have
        ///   this one.
        package func topic(_ topic: Topic?) throws(APNsRejection) -> Topic {
            guard let topic else {
                guard certificate.topics.count == 1, let only = certificate.topics.first else {
                    throw APNsRejection(
                        .missingTopic,
                        note: "there is no apns-topic, and the certificate of \(certificate.bundleID) has several")
                }
                return only.topic
            }
            // File providers have no topic of their own in certificates: the app's certificate covers them.
            let suffix = ".pushkit.fileprovider"
            let isAllowed = certificate.topics.contains {
                $0.topic == topic || ($0.kinds.contains("app") && topic.rawValue == $0.topic.rawValue + suffix)
            }
            guard isAllowed else {
                throw APNsRejection(
                    .topicDisallowed,
                    note: "the certificate of \(certificate.bundleID) does not name the topic \(topic)")
            }
            return topic
        }

        /// Whether a certificate may send a push type; the newer ones need a provider token.
        package static func allows(_ type: PushType) -> Bool {
            switch type {
            case .alert, .background, .voip, .complication, .fileprovider, .mdm: true
            case .location, .liveactivity, .pushtotalk, .widgets, .controls: false
            }
        }
    }

    /// The cached verdict on a certificate.
    package enum CachedVerdict: Sendable {
        /// Valid now, and for this environment.
        case credential(Credential)
        /// Refused, with the reason; `of` is the certificate or the authority, `nil` where the register has neither.
        case refused(APNsRejection, of: CredentialDirectory.KnownKey? = nil)
        /// The register has changed: call ``find(_:in:)``.
        case needsLookUp
    }

    /// The cache of one connection for its certificate, which is the same on all its requests.
    package struct Memory: Sendable {
        /// The certificate's bytes, as the peer presented them.
        package let der: [UInt8]
        fileprivate var verdict: Result<Credential, Refused>?
        fileprivate var version: UInt64 = 0
        fileprivate var edition: UInt64 = 0

        /// Creates the cache of a connection that has made no request yet.
        package init(der: [UInt8]) { self.der = der }
    }

    /// A refusal that remains valid while the register is unchanged.
    fileprivate struct Refused: Error {
        var refusal: APNsRejection
        var owner: CredentialDirectory.KnownKey?
    }

    private struct State {
        var certificates: [[UInt8]: RegisteredCertificate] = [:]
        var authorities: [RegisteredAuthority] = []
        /// The register's version when both were read; `nil` before the first time.
        var version: UInt64?
    }

    private let store: any CertificateRegister
    private let clock: @Sendable () -> Timestamp
    private let acceptsUnknown: Bool
    private let state = Mutex(State())
    /// The number of readings that changed certificates or authorities: a connection's cache is valid for one such
    /// number.
    private let edition = Atomic<UInt64>(0)
    private let reading: CoalescedLoad

    /// Creates a directory that has read nothing yet.
    ///
    /// - Parameters:
    ///   - acceptsUnknown: Whether an unknown certificate is accepted, whoever signed it: for tests.
    ///   - clock: The clock by which certificates begin and expire.
    package init(
        store: any CertificateRegister, acceptsUnknown: Bool = false, clock: @escaping @Sendable () -> Timestamp
    ) {
        self.acceptsUnknown = acceptsUnknown
        self.store = store
        self.clock = clock
        reading = CoalescedLoad(clock: clock)
    }

    /// Reads every certificate and every authority again.
    package func reload() async throws {
        let version = store.registerVersion
        let certificates = try await store.providerCertificates()
        let authorities = try await store.certificateAuthorities()
        // Of two entries with one identity, the revoked one takes precedence.
        let byIdentity = Dictionary(
            certificates.map { ($0.certificate.identity, $0) }, uniquingKeysWith: { $0.revokedAt == nil ? $1 : $0 })
        let hasOthers = state.withLock { state in
            let hasOthers = state.certificates != byIdentity || state.authorities != authorities
            state = State(certificates: byIdentity, authorities: authorities, version: version)
            return hasOthers
        }
        if hasOthers { edition.add(1, ordering: .releasing) }
    }

    private func reloadIfChanged() async throws {
        guard state.withLock({ $0.version }) != store.registerVersion else { return }
        try await reload()
    }

    /// Checks a certificate like ``known(_:in:)``, from the connection's cache while the register is unchanged.
    package func known(_ memory: inout Memory, in environment: PushEnvironment) -> CachedVerdict {
        let (version, edition) = (store.registerVersion, edition.load(ordering: .acquiring))
        if let verdict = memory.verdict, memory.version == version, memory.edition == edition {
            return cachedVerdict(verdict, environment)
        }
        guard let verdict = judge(memory.der, isCurrent: { $0 == version }) else { return .needsLookUp }
        memory.verdict = verdict
        (memory.version, memory.edition) = (version, edition)
        return cachedVerdict(verdict, environment)
    }

    /// Checks the bytes of a certificate from memory.
    package func known(_ der: [UInt8], in environment: PushEnvironment) -> CachedVerdict {
        var memory = Memory(der: der)
        return known(&memory, in: environment)
    }

    /// Checks the bytes of a certificate, reading the register again if it has changed. Never returns `needsLookUp`.
    ///
    /// - Throws: An error when the store cannot be read.
    package func find(_ der: [UInt8], in environment: PushEnvironment) async throws -> CachedVerdict {
        // A register that changes during a reading is read again; one that changes all the time must not delay the
        // result for ever.
        for _ in 0..<3 {
            let cachedVerdict = known(der, in: environment)
            guard case .needsLookUp = cachedVerdict else { return cachedVerdict }
            try await reading.wait { try await self.reloadIfChanged() }
        }
        guard let verdict = judge(der, isCurrent: { _ in true }) else { return .needsLookUp }
        return cachedVerdict(verdict, environment)
    }

    private func cachedVerdict(_ verdict: Result<Credential, Refused>, _ environment: PushEnvironment) -> CachedVerdict
    {
        switch verdict {
        case .success(let credential):
            guard let refusal = credential.refusal(at: clock(), in: environment) else { return .credential(credential) }
            return .refused(refusal, of: .init(team: credential.team, keyID: KeyID(rawValue: credential.id)))
        case .failure(let refused): return .refused(refused.refusal, of: refused.owner)
        }
    }

    /// - Returns: `nil` when the cached entries are not current.
    private func judge(_ der: [UInt8], isCurrent: (UInt64?) -> Bool) -> Result<Credential, Refused>? {
        let read = Result { () throws(ProviderCertificate.Malformed) in try ProviderCertificate(der: der) }
        let identity = (try? read.get())?.identity
        let (isCurrent, registered, authorities) = state.withLock { state in
            (isCurrent(state.version), identity.flatMap { state.certificates[$0] }, state.authorities)
        }
        guard isCurrent else { return nil }
        if let registered { return Self.judge(registered) }
        func refused(_ note: String) -> Result<Credential, Refused> {
            .failure(Refused(refusal: APNsRejection(.badCertificate, note: note)))
        }
        let certificate: ProviderCertificate
        do { certificate = try read.get() } catch {
            return refused("the client's certificate cannot be used: \(error)")
        }
        guard let signer = authorities.first(where: { certificate.isSigned(by: $0.authority) }) else {
            if acceptsUnknown {
                let bundleID = certificate.bundleID.rawValue
                var credential = Credential(
                    team: ServiceAccountDirectory.team(ofProject: bundleID), id: bundleID, certificate: certificate)
                credential.isUnknown = true
                return .success(credential)
            }
            return refused(
                "the register has no certificate like the one of \(certificate.bundleID), and no authority that signed it"
            )
        }
        return .success(
            Credential(
                team: signer.team, id: signer.authorityID, certificate: certificate, authority: signer.authority))
    }

    private static func judge(_ registered: RegisteredCertificate) -> Result<Credential, Refused> {
        guard let revokedAt = registered.revokedAt else {
            return .success(
                Credential(
                    team: registered.team, id: registered.certificateID, certificate: registered.certificate))
        }
        return .failure(
            Refused(
                refusal: APNsRejection(
                    .badCertificate, note: "the certificate \(registered.certificateID) was revoked at \(revokedAt)"),
                owner: .init(team: registered.team, keyID: KeyID(rawValue: registered.certificateID))))
    }
}
