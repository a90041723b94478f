import PushCore

/// A message for the registrations of a list.
package struct ListMessage: Hashable, Sendable {
    /// The unique name of the message: a repetition with the same name is stored once.
    package var name: String
    /// The list of recipients.
    package var list: RecipientList
    /// The audience in readable form.
    package var audience: String
    /// The payload.
    package var content: PushContent
    /// The kind of push; `nil` where the sender specified none.
    package var pushType: PushType?
    /// The priority.
    package var priority: Priority
    /// The collapse id; `nil` where it replaces nothing.
    package var collapseID: String?
    /// The time until which it is delivered to devices that connect later.
    package var expiry: Expiry

    /// Creates an instance from its properties.
    package init(
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
