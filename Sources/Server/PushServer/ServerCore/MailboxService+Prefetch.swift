import PushCore

/// The prefetch of a batch before it is decided: the rows that its commands concern and memory does not hold.
extension MailboxService {
    /// Reads the state that the commands need. A device is authenticated before anything is read for it.
    func prefetch(_ commands: [MailboxCommand], _ batch: inout MailboxBatch) throws {
        let since = clock() - settings.identityWindow
        var logins = PrefetchRequest(acceptedSince: since)
        for case .open(let login, _, _) in commands { logins.secretHashes.insert(login.device) }
        try read(logins, &batch)
        broadcasts.known.follow(register: apps?.registerVersion)
        var request = PrefetchRequest(acceptedSince: since)
        for command in commands { add(command, to: &request, batch) }
        if !request.locks.isEmpty {
            let count = request.locks.values.reduce(0) { $0 + $1.ids }
            let block = try ids.reserve(count, now: clock())
            request.block = block
            batch.lock(request.locks, block)
        }
        try read(request, &batch)
        learnLists(&batch)
    }

    private func add(_ command: MailboxCommand, to request: inout PrefetchRequest, _ batch: MailboxBatch) {
        switch command {
        case .accept(let queued):
            if let identity = NotificationIdentity(queued.acceptance) { request.identities.insert(identity) }
            // The notification, and a tombstone.
            addMailbox(of: queued.acceptance.subject.device, ids: 2, to: &request)
        case .open(let login, _, _):
            guard batch.admits(login) else { return }
            addMailbox(of: login.device, ids: Self.idsOfBroadcasts, to: &request)
            addNotifications(login.received, thatDoNotWaitFor: login.device, to: &request)
            request.audiences.insert(login.device)
            request.away[login.device] = batch.lastSeen(
                of: login.device, ifAwayFor: settings.longestAbsence, at: clock())
        case .acknowledged(let session, let ids, _):
            addMailbox(of: session.device, to: &request)
            addNotifications(ids, thatDoNotWaitFor: session.device, to: &request)
        case .withdraw(let id, let device, _):
            addMailbox(of: device, ids: 1, to: &request)
            // A queued notification is read too: an earlier session may have sent it.
            request.notifications.insert(id)
        case .record(let receipts, _, _): request.notifications.formUnion(receipts.lazy.map(\.id))
        case .expire(let device, let isAway):
            addMailbox(of: device, ids: isAway ? Self.idsOfBroadcasts : 0, to: &request)
        case .unregister(let device, _, _): addMailbox(of: device, to: &request)
        case .close(let session):
            if nodes != nil, connections.sessions[session.device]?.id == session {
                addMailbox(of: session.device, to: &request)
            }
        case .deliverBroadcasts(let devices, _):
            let changed = changing.among(devices)
            // Another node's batch that read the device's earlier subscriptions ends before this one gets the lock.
            if nodes != nil { for device in devices { addMailbox(of: device, to: &request) } }
            for device in devices where connections.sessions[device] != nil {
                addMailbox(of: device, ids: Self.idsOfBroadcasts, to: &request)
                request.audiences.insert(device)
                if changed.contains(device) { broadcasts.known.forget(device) }
                request.known[device] = broadcasts.known.audience(of: device)
            }
        case .sent, .writeSent, .flush, .prune: break
        }
    }

    /// The number of ids that a device is given at most for broadcasts in one batch, or for tombstones. Where they do not suffice,
    /// the device is processed again.
    private static let idsOfBroadcasts = 128

    /// - Parameter ids: The number of ids that a command gives to the device at most.
    private func addMailbox(of device: DeviceID, ids: Int = 0, to request: inout PrefetchRequest) {
        let resident = residents.mailboxes[device]
        let isRead = resident?.isRead == true
        if !isRead { request.mailboxes.insert(device) }
        guard nodes != nil else { return }
        request.locks[device, default: MailboxLock()].ids += ids
        request.locks[device]?.revision = isRead ? resident?.revision : nil
    }

    /// Most acknowledged ids are queued in a mailbox in memory, and need not be read.
    private func addNotifications(
        _ ids: [NotificationID], thatDoNotWaitFor device: DeviceID, to request: inout PrefetchRequest
    ) {
        let resident = residents.mailboxes[device]
        for id in ids where resident?.contains(id) != true { request.notifications.insert(id) }
    }

    private func read(_ request: PrefetchRequest, _ batch: inout MailboxBatch) throws {
        guard !request.isEmpty else { return }
        let found = try store.prefetch(request)
        batch.prefetch(found)
        // A change that began meanwhile may have been durable when the broadcasts were read.
        let changed = changing.among(request.known.keys)
        if !changed.isEmpty {
            for device in changed { broadcasts.known.forget(device) }
            var again = PrefetchRequest(acceptedSince: request.acceptedSince)
            again.audiences = changed
            batch.prefetch(try store.prefetch(again))
        }
        for device in request.mailboxes.union(found.changed) {
            let resident = residents.mailboxes[device] ?? ResidentMailbox(device)
            counting(resident) { $0.read(found) }
            residents.mailboxes[device] = resident
            if resident.beginTransaction() { residents.batchMailboxes.append(resident) }
        }
    }
}

extension NotificationIdentity {
    /// The identity under which a provider requests acceptance; `nil` where the server makes the id.
    init?(_ acceptance: AcceptedNotification) {
        guard let apnsID = acceptance.notification.apnsID else { return nil }
        self.init(apnsID: apnsID, subject: acceptance.subject)
    }
}

extension MailboxService {
    /// Finds the devices of a batch in the lists for which there are broadcasts.
    ///
    /// The devices get nothing of these broadcasts while the lists cannot be read.
    func learnLists(_ batch: inout MailboxBatch) {
        var asked: [Int64: [TokenSubject]] = [:]
        batch.forEachListed { list, device, registration in
            asked[list, default: []].append(
                TokenSubject(
                    cell: settings.cell, device: device, app: registration.place.app,
                    environment: registration.place.environment, generation: registration.generation))
        }
        guard !asked.isEmpty else { return }
        do {
            batch.prefetch(lists: try lists?.members(asked) ?? [:])
        } catch let failure as any StoreFailure where failure.isDamage {
            // Whoever keeps the lists tells of that. Nothing is lost: the devices' turns end before these broadcasts.
            broadcasts.areListsDamaged = true
            batch.prefetch(lists: nil)
        } catch {
            retries.messages.lists.log(error, to: logger)
            broadcasts.isUnsureOfLists = true
            batch.prefetch(lists: nil)
        }
    }
}
