import Audience
import HubWire
import LocalSchedule
import PushModel

extension NotificationHubs {
    /// Finds time zones by their names; `nil` for what is none.
    package typealias Zones = @Sendable (String) -> ZoneRules?

    /// Refuses zones that are not known.
    package func check(_ plan: CampaignPlan) throws(InstallationFault) {
        for (part, choice) in [("local", plan.local?.unknownZone), ("quiet", plan.quiet?.unknownZone)] {
            if case .of(let name)? = choice, zones(name) == nil {
                throw InstallationFault("/\(part)/unknownZone", "there is no time zone \"\(name)\"")
            }
        }
    }

    /// The zone of those who name one, or of those whose zone is not known; `nil` where these are left out.
    package func rules(_ name: String?, _ unknown: UnknownZone) -> ZoneRules? {
        if let found = name.flatMap(zones) { return found }
        if case .of(let name) = unknown { return zones(name) }
        return nil
    }

    /// Who of a campaign's audience has a turn, and when; and who is left out, and why.
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

    /// How long a wave goes on before quiet hours are looked at again: a minute, in which they begin.
    static let quietRound: Int64 = 60_000

    /// Whether it is to be looked who of a wave is to wait or is left out.
    func isToBeOpened(_ wave: SendWave, _ plan: CampaignPlan) -> Bool {
        guard let openedAt = wave.openedAt else { return true }
        return plan.quiet != nil && now.milliseconds(since: openedAt) >= Self.quietRound
    }

    /// Takes those out of a wave who have had their number of campaigns, and those who are in quiet hours.
    ///
    /// - Returns: The numbers of campaigns that the cap counts whole, since it cannot be read whom they reached.
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

    /// Those of a send whose turn was: in a slice, or as one.
    private func handedOver(_ record: SendRecord) async throws -> Bitmap {
        var handed = Bitmap(below: record.cursor)
        for part in try await store.parts(ofSend: record.number) {
            handed = handed.union(try await store.audience(of: part))
        }
        return handed
    }

    /// Who is in at least so many of some sets.
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
