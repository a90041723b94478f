import Logging
import Networking
import PushCore

/// The members of broadcasts' lists; the port of components that keep lists.
package protocol RecipientLists: Sendable {
    /// Finds the registrations that are in each list: members at the list's moment that have not left it since.
    ///
    /// - Parameter registrations: By list; a list that is not there any more has nobody.
    /// - Throws: when it cannot be read. Then it is asked again later, and nothing is decided meanwhile. After a
    ///   ``StoreFailure`` that is damage a device's lists are asked for when it logs in again.
    func members(_ registrations: [Int64: [TokenSubject]]) throws -> [Int64: Set<DeviceID>]
}

extension MailboxService {
    /// Finds the devices of a batch in the lists for which there are broadcasts.
    ///
    /// Where the lists cannot be read, the devices get nothing of these broadcasts for now.
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
            areListsDamaged = true
            batch.prefetch(lists: nil)
        } catch {
            messages.lists.log(error, to: logger)
            isUnsureOfLists = true
            batch.prefetch(lists: nil)
        }
    }
}
