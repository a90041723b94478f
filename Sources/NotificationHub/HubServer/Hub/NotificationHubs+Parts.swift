import APNsProtocol
import HubProtocol
import PushCore
import PushServer

/// The division of a send's recipients into broadcast parts.
extension NotificationHubs {
    /// The members of an audience on this server's own devices that get the same payload, in parts of at least
    /// ``broadcastMinimum``.
    ///
    /// No parts where payloads differ by recipient (templates), where the send is paced, and where it is attempted once
    /// or never. No registration is in a part: a slice checks whether another member of the send has its channel.
    func parts(of audience: Bitmap, _ record: SendRecord, _ hub: HubRecord) async throws -> [SendPartDraft] {
        let request = record.request
        guard gateway != nil, request.format != .template, request.rate == nil,
            let options = try? PushOptions(request.headers, now: now), options.expiry != .once
        else { return [] }
        let own = audience.intersection(try await ownDevices(of: hub, alone: true))
        guard own.count >= broadcastMinimum else { return [] }
        guard request.format == .content else { return [SendPartDraft(audience: own)] }
        var drafts: [SendPartDraft] = []
        for (variant, members) in try await variants(of: own, record, hub) {
            let content = try variant?.content ?? CampaignContent.read(request.body)
            var known: [[UInt8]: Int] = [:]
            for (locale, part) in try await byLocale(members, of: hub) {
                let payload = content.payload(locale: locale, for: .aldaba)
                if let place = known[payload] {
                    drafts[place].audience = drafts[place].audience.union(part)
                } else {
                    known[payload] = drafts.count
                    drafts.append(SendPartDraft(audience: part, locale: locale, variant: variant?.name))
                }
            }
        }
        return drafts.filter { $0.audience.count >= broadcastMinimum }
    }

    private func variants(
        of audience: Bitmap, _ record: SendRecord, _ hub: HubRecord
    ) async throws -> [(CampaignExperiment.Variant?, Bitmap)] {
        guard let experiment = record.request.plan.experiment, !experiment.variants.isEmpty else {
            return [(nil, audience)]
        }
        let parts = try await byVariant(audience, experiment, campaign: PersonNumber(record.id), of: hub)
        return Array(zip(experiment.variants.map { Optional($0) }, parts)).filter { !$0.1.isEmpty }
    }

    /// Submits a part as a broadcast. A part that the gateway refuses is deleted: the slices then give each recipient
    /// the reason.
    func handOver(_ part: SendPart, of record: SendRecord, _ hub: HubRecord) async throws {
        let request = record.request
        var audience = "a send"
        if let campaign = request.campaign { audience = "the campaign \(campaign)" }
        // A person's name stays in the hub's own store, where it can be erased.
        if case .audience(let text?) = request.target, !text.isEmpty, !text.lowercased().contains("id:{") {
            audience += " to \(text)"
        }
        let taken = try await gateway?.broadcast(
            HubBroadcast(
                name: "\(record.id)/\(part.number)", list: part.number, audience: "\(audience), hub \(hub.name)",
                body: try payload(of: part, request), headers: request.headers, expiresAt: part.expiresAt), of: hub)
        if let taken {
            try await store.setBroadcast(taken, of: part)
        } else if part.expiresAt != nil {
            // The slices have already passed the members of a part that follows another.
            try await store.noteWithdrawn(part, at: now)
        } else {
            try await store.drop(part)
        }
    }

    /// Makes a part of the members without a copy of a part that a pause has closed. Several calls are needed where
    /// many have a copy.
    func succeed(_ part: SendPart, of record: SendRecord, _ hub: HubRecord) async throws {
        guard part.expiresAt.map({ $0 > now }) ?? false else { return try await store.divide(part, leaving: Bitmap()) }
        // A list that was read before the part was closed makes no copies after this: all existing copies then have
        // their rows.
        try await gateway?.waitForPendingDecisions()
        guard try await follow(record, of: hub) else { return }
        try await store.divide(part, leaving: try await store.remaining(of: part))
    }

    private func payload(of part: SendPart, _ request: SendRequest) throws -> [UInt8] {
        guard request.format == .content else { return request.body }
        let variant = request.plan.experiment?.variants.first { $0.name == part.variant }
        return try (variant?.content ?? CampaignContent.read(request.body)).payload(locale: part.locale, for: .aldaba)
    }

    /// The number of copies read at once.
    private static let followed = 512
    /// The maximum number of copies read in one call.
    private static let mostFollowed = 10_240

    /// The members of a part; `nil` where they cannot be read.
    func readableAudience(of part: SendPart) async throws -> Bitmap? {
        do { return try await store.audience(of: part) } catch is UnreadableSend { return nil }
    }

    /// Makes report rows for copies that were made since the last call. Where the members of a part cannot be read, a
    /// copy is counted for the installation that has its token.
    ///
    /// - Returns: Whether those were all copies.
    @discardableResult
    func follow(_ record: SendRecord, of hub: HubRecord) async throws -> Bool {
        guard let gateway else { return true }
        var left = Self.mostFollowed
        for var part in try await store.parts(ofSend: record.number) {
            guard let broadcast = part.broadcast else { continue }
            let audience = try await readableAudience(of: part)
            while left > 0 {
                let copies = try await gateway.copies(of: broadcast, after: part.followed, limit: Self.followed)
                guard let last = copies.last else { break }
                let owners = try await store.owners(copies.flatMap(\.tokens), hub: hub.number)
                let rows = copies.map { copy in
                    let owner = copy.tokens.lazy.compactMap { owners[$0] }.first {
                        audience?.contains($0.number) ?? true
                    }
                    return row(copy.id, part: part, owner: owner)
                }
                try await store.storeRecipients(rows, of: part, upTo: last.id)
                part.followed = last.id
                left -= copies.count
                if copies.count < Self.followed { break }
            }
        }
        return left > 0
    }

    /// The row of a broadcast's copy. Without an owner, the row has no installation and the copy's id is its part.
    private func row(_ copy: NotificationID, part: SendPart, owner: StoredInstallation?) -> SendRecipient {
        var row = SendRecipient(
            installation: owner?.number ?? 0, part: owner == nil ? "=\(copy)" : "",
            name: owner?.installation.id ?? "", platform: .aldaba,
            locale: owner?.installation.locale?.lowercased(), appVersion: owner?.installation.appVersion,
            outcome: .success, reason: SendOutcome.success.rawValue, end: .waiting, at: now, attempts: 1)
        row.isTraced = true
        row.list = part.number
        row.variant = part.variant
        row.notification = copy
        return row
    }

    /// Merges rows of parts that have more rows than members. A member whose installation was deleted after its copy
    /// was made has two: one for the copy, and one with the reason `Gone`.
    ///
    /// - Returns: Whether any rows were merged.
    func joinRepeated(_ record: SendRecord, rows: [Int64: PartRows]) async throws -> Bool {
        var found = false
        for part in try await store.parts(ofSend: record.number) {
            let excess = rows[part.number, default: PartRows()].count - part.count
            guard excess > 0 else { continue }
            try await store.matchDeletedRecipients(excess, of: part)
            found = true
        }
        return found
    }

    /// Counts the members of broadcast parts that have no row in the report, by their end.
    ///
    /// - Parameter rows: The number of rows of each part.
    func unreached(
        _ record: SendRecord, rows: [Int64: PartRows]
    ) async throws -> [UnreachedMembers] {
        try await store.parts(ofSend: record.number).compactMap { part in
            let known = rows[part.number, default: PartRows()]
            let left = part.count - known.count
            guard left > 0, let end = part.end(of: record, at: now) else { return nil }
            return UnreachedMembers(part: part, end: end, count: left, ownerless: known.ownerless)
        }
    }
}

extension NotificationHubs {
    /// The tag of the installations on which campaigns are tried.
    package static let testTag = "test-device"
    /// The maximum number of installations on which a campaign is tried at once.
    package static let mostTestDevices = 20

    /// The trial of a campaign, or of one of its variants, on the test devices.
    package struct Trial: Sendable {
        /// The variant; `nil` for a campaign without variants.
        package var variant: String?
        /// The send that delivered it.
        package var send: SendRecord
        /// The result for each test device.
        package var results: [TestResult]
    }

    /// Sends a campaign to test devices at once, each variant to each of them. Caps, quiet hours and local times are
    /// ignored, and no count includes the trial as a campaign.
    ///
    /// - Parameter devices: The ids of installations; `nil` for those with the tag ``testTag``.
    /// - Throws: ``HubError`` where there is no such installation, or none at all.
    package func tryOut(_ request: SendRequest, on devices: [String]?, of hub: HubRecord) async throws -> [Trial] {
        var numbers: [UInt32] = []
        if let devices {
            guard devices.count <= Self.mostTestDevices else {
                throw HubError.document(
                    InstallationError("/devices", "at most \(Self.mostTestDevices) test devices are taken"))
            }
            for id in devices { numbers.append(try await installation(id, of: hub).number) }
        } else {
            numbers = try await audience(Self.testTag, of: hub, for: nil, readsFields: false)
                .numbers(limit: Self.mostTestDevices)
        }
        guard !numbers.isEmpty else {
            throw HubError.missing(
                "a test device (give an installation the tag \(Self.testTag), or name it in devices)")
        }
        var request = request
        let variants = request.plan.experiment?.variants ?? []
        request.plan = CampaignPlan()
        (request.campaign, request.idempotencyKey, request.rate) = (nil, nil, nil)
        request.target = .audience(nil)
        var trials: [Trial] = []
        for (name, body) in variants.isEmpty
            ? [(nil, request.body)] : variants.map({ (Optional($0.name), $0.document.bytes) })
        {
            request.body = body
            let (send, results) = try await test(request, on: numbers, of: hub)
            trials.append(Trial(variant: name, send: send, results: results))
        }
        return trials
    }
}
