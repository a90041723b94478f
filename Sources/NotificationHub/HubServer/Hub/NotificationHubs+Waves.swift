import HubProtocol
import PushCore
import Scheduling

extension NotificationHubs {
    /// Finds the rules of a time zone by its name; `nil` for an unknown name.
    package typealias Zones = @Sendable (String) -> ZoneRules?

    /// Refuses a plan with unknown time zones.
    package func check(_ plan: CampaignPlan) throws(InstallationFault) {
        for (part, choice) in [("local", plan.local?.unknownZone), ("quiet", plan.quiet?.unknownZone)] {
            if case .of(let name)? = choice, zones(name) == nil {
                throw InstallationFault("/\(part)/unknownZone", "there is no time zone \"\(name)\"")
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
            change.leave(out, .heldOut)
            rest = rest.subtracting(out)
        }
        let own = try await ownDevices(of: hub)
        guard let local = plan.local else {
            change.add(rest, at: now, own)
            return change
        }
        for (zone, part) in try await byZone(rest, of: hub) {
            guard let rules = rules(zone, local.unknownZone) else {
                change.leave(part, .unknownZone)
                continue
            }
            switch local.due(in: rules, accepted: record.enqueuedAt) {
            case .at(let instant): change.add(part, at: instant, own)
            case .never(let why): change.leave(part, why)
            }
        }
        return change
    }

    /// The period after which a wave checks quiet hours again: one minute, in milliseconds, since they begin on a
    /// minute.
    static let quietRound: Int64 = 60_000

    /// Whether the waiting and excluded members of a wave are to be determined.
    func isToBeOpened(_ wave: SendBatch, _ plan: CampaignPlan) -> Bool {
        guard let openedAt = wave.openedAt else { return true }
        return plan.quiet != nil && now.milliseconds(since: openedAt) >= Self.quietRound
    }

    /// Removes members from a wave that have reached the frequency cap, and those that are in quiet hours.
    ///
    /// - Returns: The numbers of the campaigns whose whole audience the cap counts, since their recipients cannot be
    ///   read.
    func open(_ wave: SendBatch, of record: SendRecord, _ hub: HubRecord) async throws -> [Int64] {
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
            change.leave(rest.intersection(full), .capped)
            rest = rest.subtracting(full)
        }
        if let quiet = plan.quiet {
            let own = try await ownDevices(of: hub)
            for (zone, part) in try await byZone(rest, of: hub) {
                if let rules = rules(zone, quiet.unknownZone) {
                    guard let end = quiet.end(in: rules, now: now) else { continue }
                    if quiet.then == .wait { change.add(part, at: end, own) } else { change.leave(part, .quiet) }
                } else {
                    change.leave(part, .unknownZone)
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
