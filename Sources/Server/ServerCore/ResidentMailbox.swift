import Mailbox

/// A mailbox that is held in memory: changed in place, without a copy and without a second look-up of its device.
///
/// Owned by the mailbox service, and used on its event loop only.
final class ResidentMailbox {
    var mailbox: Mailbox

    init(_ mailbox: Mailbox) { self.mailbox = mailbox }
}
