import APNsProtocol
import PushCore
import PushServer

extension MemoryStore: TopicStore {
    /// Subscribes active registrations.
    package func subscribe(
        _ members: [TopicMember], to topic: TopicName, limit: Int, at now: Timestamp
    ) async throws -> [SubscriptionOutcome] {
        state.withLock { state in
            let joined = state.topics.nextSequence()
            return members.map { member in
                guard state.register.isActive(member.subject) else { return .ended }
                return state.topics.subscribe(member, to: topic, joined: joined, limit: limit, at: now)
            }
        }
    }

    /// Ends subscriptions.
    package func unsubscribe(_ members: [TopicMember], from topic: TopicName) async throws -> [Bool] {
        state.withLock { state in
            let left = state.topics.nextSequence()
            return members.map { member in
                state.register.isActive(member.subject) && state.topics.unsubscribe(member, from: topic, left: left)
            }
        }
    }

    /// The subscriptions of a registration, by name.
    package func subscriptions(of subject: TokenSubject) async throws -> [TopicSubscription] {
        state.withLock { state in
            guard state.register.isActive(subject) else { return [] }
            return state.topics.subscriptions(of: subject).compactMap { subscription in
                state.topics.name(of: subscription.membership.topic).map {
                    TopicSubscription(topic: $0, since: subscription.since)
                }
            }.sorted { $0.topic.text < $1.topic.text }
        }
    }

    /// Stores the payload among the shared ones.
    package func insertBroadcast(_ draft: BroadcastDraft) async throws -> Broadcast {
        try state.withLock { state in
            if let name = draft.name, let known = state.topics.broadcast(named: name) { return known }
            try state.rows.apply(
                .insertPayload(
                    PayloadRecord(
                        id: PayloadID(rawValue: draft.id.rawValue), lane: draft.content.lane,
                        content: draft.content.bytes, acceptedAt: draft.acceptedAt)))
            return state.topics.insert(draft)
        }
    }

    /// Stops the copies of a broadcast.
    package func withdrawBroadcast(_ id: NotificationID, at now: Timestamp) async throws -> Bool {
        state.withLock { $0.topics.withdraw(id, at: now) }
    }

    /// The broadcasts whose withdrawal has begun and not ended.
    package func withdrawnBroadcasts() async throws -> [NotificationID] {
        state.withLock { state in
            state.topics.broadcasts.values.filter { $0.withdrawnAt != nil && $0.endedAt == nil }.map(\.draft.id)
                .sorted()
        }
    }

    /// The copies, found by the payload that they share.
    package func copies(
        of broadcast: NotificationID, after: NotificationID?, limit: Int
    ) async throws -> [BroadcastCopy] {
        state.withLock { state in
            state.rows.copies(of: PayloadID(rawValue: broadcast.rawValue))
                .filter { record in after.map { record.id > $0 } ?? true }.prefix(limit)
                .map { record in
                    BroadcastCopy(
                        id: record.id, device: record.subject.device,
                        place: AppPlace(app: record.subject.app, environment: record.subject.environment),
                        generation: record.subject.generation)
                }
        }
    }

    /// Records that the withdrawal has ended.
    package func endWithdrawnBroadcast(_ id: NotificationID, at now: Timestamp) async throws {
        state.withLock { state in
            if state.topics.broadcasts[id]?.withdrawnAt != nil { state.topics.end(id, at: now) }
        }
    }

    /// Ends expired broadcasts, all at once.
    package func endBroadcasts(
        at now: Timestamp, keptSince: Timestamp, countedSince: Timestamp, limit: Int
    ) async throws -> Bool {
        state.withLock { state in
            for (id, stored) in state.topics.broadcasts
            where stored.isOpen && stored.broadcast.expiresAt <= now {
                state.topics.end(id, at: now)
                guard !stored.broadcast.isAttempt else { continue }
                state.topics.expired.append(ExpiredBroadcast(stored.broadcast, lane: stored.draft.content.lane))
            }
            state.topics.expired.removeAll { $0.broadcast.expiresAt < countedSince }
            let old = state.topics.broadcasts.filter { id, stored in
                stored.endedAt != nil && stored.draft.acceptedAt < keptSince && stored.draft.expiresAt < keptSince
                    && state.rows.copies(of: PayloadID(rawValue: id.rawValue)).isEmpty
            }
            state.topics.forget(Array(old.keys))
            state.topics.forgetPast()
            return false
        }
    }
}

extension MemoryStore.State {
    /// Reads the broadcasts for a device.
    ///
    /// - Parameter known: The device's cursor, subscriptions and registrations, if the caller has them.
    /// - Parameter seen: The time at which a device that was away was last seen.
    func read(_ device: DeviceID, known: DeviceAudience?, since seen: Timestamp?, into found: inout Prefetched) {
        let subscriptions = topics.subscriptions[device, default: []].filter { register.isActive($0.subject) }
        let present = known?.memberships ?? subscriptions.map(\.membership).filter { $0.left == nil }
        let memberships = present + subscriptions.map(\.membership).filter { $0.left != nil }
        let cursor = known?.cursor ?? rows.cursors[device] ?? 0
        let candidates = topics.broadcasts.values.filter { stored in
            stored.isOpen && stored.broadcast.sequence > cursor
                && stored.broadcast.audience.entries.contains { entry in
                    entry == .everyone
                        || present.contains { $0.topic == entry && $0.joined < stored.broadcast.sequence }
                }
        }.sorted { $0.broadcast.sequence < $1.broadcast.sequence }.prefix(DeviceAudience.broadcastLimit)
        var audience = DeviceAudience(
            cursor: cursor, memberships: candidates.isEmpty ? present : memberships,
            broadcasts: candidates.map(\.draft.id))
        defer { found.audiences[device] = audience }
        if let known { audience.registrations = known.registrations }
        if let seen, known == nil {
            let topics = Set(present.map(\.topic)).union([.everyone])
            audience.expired = self.topics.expired.filter { expired in
                expired.broadcast.expiresAt > seen && expired.broadcast.sequence > cursor
                    && !topics.isDisjoint(with: expired.broadcast.audience.entries)
            }.sorted { $0.broadcast.expiresAt < $1.broadcast.expiresAt }
        }
        guard !candidates.isEmpty || !audience.expired.isEmpty else { return }
        for stored in candidates {
            let draft = stored.draft
            found.broadcasts[draft.id] = BroadcastRecord(
                broadcast: stored.broadcast, pushType: draft.pushType, priority: draft.priority,
                collapseID: draft.collapseID, content: draft.content)
        }
        for (place, registration) in register.registrations
        where place.device == device && registration.endedAt == nil {
            guard let app = register.app(place.app), !register.isRemoved(app.id) else { continue }
            found.apps[app.id] = app
            guard known == nil else { continue }
            audience.registrations.append(
                FanoutRegistration(
                    place: AppPlace(app: app.id, environment: place.environment),
                    generation: registration.generation, team: app.team,
                    registeredAt: register.registeredAt[place] ?? Timestamp(rawValue: 0)))
        }
    }

    /// The timeline of a broadcast.
    func broadcastTimeline(_ id: NotificationID) -> NotificationTimeline? {
        guard let stored = topics.broadcasts[id] else { return nil }
        var entries = [TimelineEntry(at: stored.draft.acceptedAt, state: .accepted, source: .server)]
        if let withdrawnAt = stored.withdrawnAt {
            entries.append(TimelineEntry(at: withdrawnAt, state: .withdrawn, source: .server))
        }
        let copies = rows.copies(of: PayloadID(rawValue: id.rawValue))
        var states: [String: Int] = [:]
        for copy in copies {
            for state in Set(rows.lines(of: copy.id).map(\.state.text)) { states[state, default: 0] += 1 }
        }
        return NotificationTimeline(
            id: id, apnsID: ServerAPNsID.apnsID(of: id), team: stored.draft.team, topic: Topic(rawValue: ""),
            device: nil, environment: nil, entries: entries,
            broadcast: BroadcastSummary(
                audience: stored.draft.written, expiresAt: stored.draft.expiresAt, targeted: copies.count,
                states: states))
    }
}
