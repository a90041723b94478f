import Fanout
import PushModel

/// A message for the registrations of a list.
public struct ListMessage: Hashable, Sendable {
    /// What names the message: the same one is stored once. No two messages may share it.
    public var name: String
    /// Who it is for.
    public var list: RecipientList
    /// Who it is for, as people read it.
    public var audience: String
    /// The payload.
    public var content: PushContent
    /// The kind of push; `nil` where the sender named none.
    public var pushType: PushType?
    /// How urgent it is.
    public var priority: Priority
    /// Its collapse id; `nil` where it replaces nothing.
    public var collapseID: String?
    /// Until when it reaches those who connect later.
    public var expiry: Expiry

    /// Brings the parts together.
    public init(
        name: String, to list: RecipientList, audience: String, content: PushContent, pushType: PushType? = nil,
        priority: Priority = .immediate, collapseID: String? = nil, expiry: Expiry = .policyDefault
    ) {
        self.name = name
        self.list = list
        self.audience = audience
        self.content = content
        self.pushType = pushType
        self.priority = priority
        self.collapseID = collapseID
        self.expiry = expiry
    }
}
