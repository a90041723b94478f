import Foundation
import RelayProtocol

/// An effect that a part of ``RelayHost`` has outside itself. The host performs effects in the order of their list.
enum RelayEffect {
    /// A directive for the caller of the host.
    case directive(RelayHost.Directive)
    /// A command of a client is sent to another device.
    case command(RelayRoute)
    /// A content is sent to another device, without a command of its own.
    case send(RelayContent, to: String, isBulk: Bool = false)
    /// A command of another device is answered.
    case reply(UUID, to: String, RelayOutcome)
    /// A command of a client here ends.
    case end(UUID, RelayOutcome)
    /// A task of a client or a service here ends.
    case settle(Int64, RelayOutcome)
    /// A command of a client here is carried out by its device.
    case executing(UUID, on: String)
    /// This device joins an account.
    case join(AccountKey)
}
