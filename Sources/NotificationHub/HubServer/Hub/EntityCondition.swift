/// The precondition of a change (RFC 9110, section 13.1).
package enum EntityCondition: Hashable, Sendable {
    /// No condition.
    case none
    /// The entity exists.
    case exists
    /// The entity does not exist.
    case isMissing
    /// The entity exists in this version.
    case version(Int64)

    /// Whether the condition holds for an entity's version; `nil` for none.
    package func matches(_ version: Int64?) -> Bool {
        switch self {
        case .none: true
        case .exists: version != nil
        case .isMissing: version == nil
        case .version(let wanted): version == wanted
        }
    }
}
