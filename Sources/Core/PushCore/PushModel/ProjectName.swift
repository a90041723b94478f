/// A team's FCM project number, which is also its sender id: the base-36 value of the team id's ten characters, in
/// decimal. It is stable, and below 2^52.
package struct ProjectNumber: Hashable, Sendable, CustomStringConvertible {
    /// The number.
    package let rawValue: UInt64

    /// The number of a team; `nil` where the id does not have a team's shape.
    package init?(_ team: TeamID) {
        guard TeamID.hasShape(team.rawValue), let value = UInt64(team.rawValue, radix: 36) else { return nil }
        rawValue = value
    }

    /// The team with a number; `nil` for a number that is no team's.
    package static func team(of text: String) -> TeamID? {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let value = UInt64(text) else { return nil }
        let digits = String(value, radix: 36).uppercased()
        guard digits.utf8.count <= 10 else { return nil }
        return TeamID(rawValue: String(repeating: "0", count: 10 - digits.utf8.count) + digits)
    }

    package var description: String { String(rawValue) }
}

/// A team's FCM project: its id in lower case. A request may contain it in either case, or as the project number.
package enum ProjectName {
    /// The team of a project's id or number. Ten digits are a number, unless that is no team's.
    package static func team(_ name: String) -> TeamID? {
        let upper = name.uppercased()
        if TeamID.hasShape(upper), upper.contains(where: \.isLetter) { return TeamID(rawValue: upper) }
        guard let first = name.first, first != "0" else { return nil }
        return ProjectNumber.team(of: name)
    }

    /// The project id of a team.
    package static func id(of team: TeamID) -> String { team.rawValue.lowercased() }

    /// Whether a request's project is this team's.
    package static func names(_ text: String, _ team: TeamID) -> Bool {
        text.uppercased() == team.rawValue || ProjectNumber(team)?.description == text
    }
}
