import HubProtocol
import PushCore

/// Checks of requests on arrival, for faults that would otherwise make them fail silently later.
extension NotificationHubs {
    /// Refuses an installation's unusable values.
    func checkDoor(_ installation: Installation) throws(InstallationFault) {
        try InstallationValidator.check(installation) { zones($0) != nil }
    }

    /// Refuses such values where a document changes them; earlier values stay as they are.
    func checkDoor(
        _ changed: JSONTree, insteadOf document: JSONTree, id: String
    ) throws(InstallationFault) {
        let before = try InstallationJSON.read(document, id: id)
        try InstallationValidator.check(try InstallationJSON.read(changed, id: id), insteadOf: before) {
            zones($0) != nil
        }
    }

    /// The maximum age of the instant of a send, in milliseconds: a minute, for clocks that differ.
    static let instantTimeout: Int64 = 60_000

    /// Refuses an instant that has passed, since the send would begin now. A repetition of an accepted request is not
    /// checked again.
    ///
    /// - Parameter place: The place of the instant in the request.
    func checkInstant(of request: SendRequest, _ hub: HubRecord, at place: String) async throws {
        guard let dueAt = request.dueAt, request.plan.local == nil,
            now.milliseconds(since: dueAt) > Self.instantTimeout
        else { return }
        if let key = request.idempotencyKey, try await store.send(ofKey: key, hub: hub.number) != nil { return }
        throw HubFault.document(
            InstallationFault(
                place, "\(WireTime.write(dueAt)) is over; name a later instant, or none to send at once"))
    }
}
