/// The reason why a campaign leaves out an installation that its expression matches.
package enum ExclusionReason: String, CaseIterable, Sendable {
    /// The experiment's part that gets nothing.
    case heldOut
    /// The installation has received as many campaigns as the cap allows.
    case capped
    /// The campaign was due in quiet hours.
    case quiet
    /// The local time was over.
    case past
    /// Clocks are set over the local time.
    case gap
    /// The time zone is not known.
    case unknownZone
}
