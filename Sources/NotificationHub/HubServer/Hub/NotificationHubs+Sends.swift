import APNsProtocol
import Crypto
import HubProtocol
import PushCore
import PushServer
import Scheduling

extension NotificationHubs {
    /// Accepts a send. It is durable when this returns, and begins at once or when it is due.
    ///
    /// - Throws: ``HubError`` for a request that cannot be sent.
    package func accept(_ request: SendRequest, for hub: HubRecord) async throws -> SendRecord {
        if case .audience(let text) = request.target {
            _ = try expression(text, of: hub, readsFields: request.readsFields)
        }
        let now = clock()
        let variants = request.plan.experiment?.variants ?? []
        do {
            _ = try PushOptions(request.headers, now: now)
            switch request.format {
            case .native: break
            case .template: _ = try PushTemplate.checkedProperties(request.body)
            case .content: if variants.isEmpty { try check(content: request.body, at: "/content") }
            }
            try check(request.plan)
            for (place, variant) in variants.enumerated() {
                try check(content: variant.document.bytes, at: "/experiment/variants/\(place)/content")
            }
        } catch { throw HubError.document(error) }
        guard
            let record = try await store.addSend(
                id: freshID(), hub: hub.number, request, state: request.dueAt == nil ? .enqueued : .scheduled, at: now)
        else { throw HubError.keyReused }
        wakeUps.yield()
        return record
    }

    /// Refuses content that is too large in any language, before the first notification is sent.
    private func check(content: [UInt8], at path: String) throws(InstallationError) {
        let read = try CampaignContent.read(content)
        let limit = APNsPayloadLimit.bytes(for: nil)
        for language in read.languages {
            let bytes = read.payload(locale: language).count
            guard bytes > limit else { continue }
            let name = language.map { " in \($0)" } ?? ""
            throw InstallationError(path, "the payload\(name) would have \(bytes) bytes, \(limit) at most are taken")
        }
    }

    /// Cancels a scheduled send.
    ///
    /// - Throws: ``HubError`` where there is no such send, or it has ended. One that was cancelled already is returned
    ///   as it is.
    package func cancel(_ id: String, of hub: HubRecord) async throws -> SendRecord {
        let found = try await send(id, of: hub)
        guard found.state != .canceled else { return found }
        return try await move(id, of: hub, to: .canceled, from: [.scheduled, .enqueued, .paused, .processing])
    }

    /// Pauses a send that has not ended. When this returns, parts make no more copies; a slice that is under way is
    /// completed.
    package func pause(_ id: String, of hub: HubRecord) async throws -> SendRecord {
        let record = try await move(id, of: hub, to: .paused, from: [.scheduled, .enqueued, .processing])
        try await gateway?.waitForPendingDecisions()
        return record
    }

    /// Resumes a send, for the members of its parts without a copy as well.
    package func resume(_ id: String, of hub: HubRecord) async throws -> SendRecord {
        let found = try await send(id, of: hub)
        let state: SendState =
            if found.startedAt != nil { .processing } else if found.request.dueAt != nil { .scheduled } else {
                .enqueued
            }
        let record = try await move(id, of: hub, to: state, from: [.paused])
        wakeUps.yield()
        return record
    }

    /// The reason why a send cannot be paused, resumed or ended.
    private static func words(_ state: SendState, _ wanted: SendState) -> String {
        let verb =
            switch wanted {
            case .paused: "held"
            case .canceled: "canceled"
            default: "resumed"
            }
        guard !state.isFinal else { return "the send has ended (\(state.rawValue)): it cannot be \(verb) any more" }
        return "the send is \(state.rawValue): it cannot be \(verb)"
            + (wanted == .paused ? " again" : verb == "resumed" ? "; only one that is held can" : "")
    }

    private func move(
        _ id: String, of hub: HubRecord, to state: SendState, from states: [SendState]
    ) async throws -> SendRecord {
        let found = try await send(id, of: hub)
        guard let done = try await store.setState(state, of: found.number, from: states, at: clock()) else {
            // Another request may have done it meanwhile.
            let present = try await send(id, of: hub)
            guard present.state == state, found.state != state else {
                throw HubError.conflict(Self.words(present.state, state))
            }
            return present
        }
        return done
    }

    /// Reads a send.
    ///
    /// - Throws: ``HubError`` where there is no such send.
    package func send(_ id: String, of hub: HubRecord) async throws -> SendRecord {
        guard let found = try await store.send(id, hub: hub.number) else {
            throw HubError.missing("the send \(id)")
        }
        return found
    }

    /// The details of a send.
    ///
    /// - Parameter location: Makes the absolute address of an id.
    package func details(_ id: String, of hub: HubRecord, location: (String) -> String) async throws -> SendDetails {
        let record = try await send(id, of: hub)
        let outcomes = try await store.outcomes(of: record.number)
        let suffix = record.request.format == .template ? "template" : ""
        let tags: String
        if case .audience(let text?) = record.request.target { tags = text } else { tags = "" }
        return SendDetails(
            id: record.id, location: location(record.id), state: record.state, enqueuedAt: record.enqueuedAt,
            startedAt: record.startedAt, endedAt: record.endedAt,
            body: String(decoding: record.request.body, as: UTF8.self), tags: tags,
            platforms: Set(outcomes.map { $0.platform.detailName + suffix }).sorted(), outcomes: outcomes)
    }

    /// Sends to at most ten installations, picked at random, and waits for the outcomes.
    package func test(_ request: SendRequest, for hub: HubRecord) async throws -> (SendRecord, [TestResult]) {
        var picked: [UInt32] = []
        if case .audience(let text) = request.target {
            var numbers = try await audience(text, of: hub, for: request.format, readsFields: request.readsFields)
                .numbers(limit: 10_000)
            while picked.count < 10, !numbers.isEmpty {
                picked.append(numbers.remove(at: Int(random() % UInt64(numbers.count))))
            }
        }
        return try await test(request, on: picked, of: hub)
    }

    /// The time after which a test continues whose server was killed meanwhile, in milliseconds.
    private static let testTimeout: Int64 = 600_000

    /// Sends to some installations at once, and waits for the outcomes. Nothing is sent again for a known idempotency
    /// key.
    func test(
        _ request: SendRequest, on numbers: [UInt32], of hub: HubRecord
    ) async throws -> (SendRecord, [TestResult]) {
        var request = request
        request.dueAt = nil
        do { _ = try PushOptions(request.headers, now: clock()) } catch { throw HubError.document(error) }
        let (picked, now) = (Bitmap(numbers), clock())
        guard
            let (record, isNew) = try await store.addTest(
                id: freshID(), hub: hub.number, request, audience: picked,
                resumesAt: now.adding(milliseconds: Self.testTimeout), at: now)
        else { throw HubError.keyReused }
        guard isNew else { return (record, []) }
        let results = try await slices.run(of: hub.number) { [self] in
            try await store.claiming(SQLClaim(.send, record.number)) { [self] in
                var slice = SendSlice(hubs: self, hub: hub, record: record)
                var results: [TestResult] = []
                var isEnd = false
                // Each makes at least one installation's notifications.
                while !isEnd {
                    var (progress, told) = try await slice.run(picked, collects: true)
                    // Until the end nobody else runs it.
                    if !progress.isEnd { progress.nextAt = now.adding(milliseconds: Self.testTimeout) }
                    try await store.advance(record.number, hub: hub.number, progress, committed: committed)
                    results += told
                    slice.record.cursor = progress.cursor
                    slice.record.step += 1
                    isEnd = progress.isEnd
                }
                return results
            }
        }
        return (record, results)
    }
}

extension NotificationHubs {
    /// Finds the rules of a time zone by its name; `nil` for an unknown name.
    package typealias Zones = @Sendable (String) -> ZoneRules?

    /// Refuses a plan with unknown time zones.
    package func check(_ plan: CampaignPlan) throws(InstallationError) {
        for (part, choice) in [("local", plan.local?.unknownZone), ("quiet", plan.quiet?.unknownZone)] {
            if case .of(let name)? = choice, zones(name) == nil {
                throw InstallationError("/\(part)/unknownZone", "there is no time zone \"\(name)\"")
            }
        }
    }

    /// The rules of a named zone, or those for installations with an unknown zone; `nil` where these are left out.
    package func rules(_ name: String?, _ unknown: UnknownZone) -> ZoneRules? {
        if let found = name.flatMap(zones) { return found }
        if case .of(let name) = unknown { return zones(name) }
        return nil
    }

    /// The waves of a campaign with their times, and the members of the audience that are left out, each with the
    /// reason.
    func waves(of record: SendRecord, _ hub: HubRecord, audience: Bitmap) async throws -> WaveChange {
        var change = WaveChange()
        let plan = record.request.plan
        var rest = audience
        if let experiment = plan.experiment {
            let out = try await heldOut(rest, experiment, campaign: PersonNumber(record.id), of: hub)
            change.exclude(out, reason: .heldOut)
            rest = rest.subtracting(out)
        }
        let own = try await ownDevices(of: hub)
        guard let local = plan.local else {
            change.add(rest, at: now, own)
            return change
        }
        for (zone, part) in try await byZone(rest, of: hub) {
            guard let rules = rules(zone, local.unknownZone) else {
                change.exclude(part, reason: .unknownZone)
                continue
            }
            switch local.due(in: rules, accepted: record.enqueuedAt) {
            case .at(let instant): change.add(part, at: instant, own)
            case .never(let why): change.exclude(part, reason: why)
            }
        }
        return change
    }

    /// The period after which a wave checks quiet hours again: one minute, in milliseconds, since they begin on a
    /// minute.
    static let quietRound: Int64 = 60_000

    /// Whether the waiting and excluded members of a wave are to be determined.
    func isToBeOpened(_ wave: SendWave, _ plan: CampaignPlan) -> Bool {
        guard let openedAt = wave.openedAt else { return true }
        return plan.quiet != nil && now.milliseconds(since: openedAt) >= Self.quietRound
    }

    /// Removes members from a wave that have reached the frequency cap, and those that are in quiet hours.
    ///
    /// - Returns: The numbers of the campaigns whose whole audience the cap counts, since their recipients cannot be
    ///   read.
    func open(_ wave: SendWave, of record: SendRecord, _ hub: HubRecord) async throws -> [Int64] {
        let plan = record.request.plan
        let audience = try await store.audience(of: wave)
        var handed = Bitmap()
        if wave.openedAt != nil { handed = audience.intersection(try await handedOver(record)) }
        var rest = audience.subtracting(handed)
        var change = WaveChange()
        var unreadable: [Int64] = []
        if wave.openedAt == nil, let cap = plan.cap {
            let since = now.adding(milliseconds: -cap.hours * 3_600_000)
            let others = try await store.reached(hub: hub.number, since: since, but: record.number)
            unreadable = others.unreadable
            let full = Self.reached(cap.most, others.audiences)
            change.exclude(rest.intersection(full), reason: .capped)
            rest = rest.subtracting(full)
        }
        if let quiet = plan.quiet {
            let own = try await ownDevices(of: hub)
            for (zone, part) in try await byZone(rest, of: hub) {
                if let rules = rules(zone, quiet.unknownZone) {
                    guard let end = quiet.end(in: rules, now: now) else { continue }
                    if quiet.then == .wait {
                        change.add(part, at: end, own)
                    } else {
                        change.exclude(part, reason: .quiet)
                    }
                } else {
                    change.exclude(part, reason: .unknownZone)
                }
                rest = rest.subtracting(part)
            }
        }
        let parts = try await wave.openedAt == nil ? self.parts(of: rest, record, hub) : []
        try await store.open(wave, audience: handed.union(rest), change, parts: parts, at: now)
        return unreadable
    }

    /// The members of a send that were already processed, in a slice or in a broadcast part.
    private func handedOver(_ record: SendRecord) async throws -> Bitmap {
        var handed = Bitmap(below: record.cursor)
        for part in try await store.parts(ofSend: record.number) {
            handed = handed.union(try await store.audience(of: part))
        }
        return handed
    }

    /// The numbers contained in at least `most` of some sets.
    static func reached(_ most: Int, _ sets: [Bitmap]) -> Bitmap {
        var levels = [Bitmap](repeating: Bitmap(), count: most)
        for set in sets {
            for level in stride(from: most - 1, to: 0, by: -1) {
                levels[level] = levels[level].union(levels[level - 1].intersection(set))
            }
            levels[0] = levels[0].union(set)
        }
        return levels[most - 1]
    }
}
