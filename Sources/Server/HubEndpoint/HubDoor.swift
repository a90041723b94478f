import CarriageWire
import Hub
import HubWire
import PushModel

/// What is refused when it comes in, since it would fail without a word later.
extension NotificationHubs {
    /// Refuses values of an installation that nothing could be done with.
    func checkDoor(_ installation: Installation) throws(InstallationFault) {
        try InstallationDoor.check(installation) { zones($0) != nil }
    }

    /// Refuses such values where a document changes them; what it was before stays as it is.
    func checkDoor(
        _ changed: JSONTree, insteadOf document: JSONTree, id: String
    ) throws(InstallationFault) {
        let before = try InstallationJSON.read(document, id: id)
        try InstallationDoor.check(try InstallationJSON.read(changed, id: id), insteadOf: before) { zones($0) != nil }
    }

    /// How far in the past the instant of a send may be: a minute, for clocks that differ.
    static let instantPatience: Int64 = 60_000

    /// Refuses an instant that is over: what was planned for then would come now. A request that was accepted already is not
    /// looked at again.
    ///
    /// - Parameter place: Where the request names the instant.
    func checkInstant(of request: SendRequest, _ hub: HubRecord, at place: String) async throws {
        guard let dueAt = request.dueAt, request.plan.local == nil,
            now.milliseconds(since: dueAt) > Self.instantPatience
        else { return }
        if let key = request.idempotencyKey, try await store.send(ofKey: key, hub: hub.number) != nil { return }
        throw HubFault.document(
            InstallationFault(
                place, "\(WireTime.write(dueAt)) is over; name a later instant, or none to send at once"))
    }
}
