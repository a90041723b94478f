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
