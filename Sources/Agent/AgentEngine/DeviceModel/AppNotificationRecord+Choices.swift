import AgentProtocol

/// The settings that a person can change for an app, by their names at a terminal.
extension AppNotificationRecord {
    private static var switches: [(name: String, value: WritableKeyPath<AppSettings, Bool>)] {
        [
            ("alerts", \.alerts), ("sounds", \.sounds), ("badges", \.badges), ("list", \.list),
            ("lock-screen", \.lockScreen), ("time-sensitive", \.timeSensitive), ("critical", \.criticalAlerts),
        ]
    }
    private static let onOff = ["on", "off"]
    private static let allowed = "allowed"
    private static let missedHours = "missed-hours"
    private static let missedHourWords = "a number of hours from 1 to 8760"
    private static let authorizations: [(String, Authorization)] = [
        ("yes", .authorized), ("no", .denied), ("quietly", .provisional), ("ask", .notDetermined),
    ]

    /// Every setting with its value.
    package func choices(under policy: AppManifest.Authorization) -> [ManagementAnswer.Setting] {
        let authorization = authorization(under: policy)
        let word = Self.authorizations.first { $0.1 == authorization }?.0 ?? "ask"
        var choices = [
            ManagementAnswer.Setting(
                name: Self.allowed, value: word, allowed: policy == .ask ? Self.authorizations.map(\.0) : [word])
        ]
        for (name, value) in Self.switches {
            choices.append(.init(name: name, value: settings[keyPath: value] ? "on" : "off", allowed: Self.onOff))
        }
        choices.append(
            .init(
                name: "style", value: settings.alertStyle.rawValue,
                allowed: AppSettings.AlertStyle.allCases.map(\.rawValue)))
        choices.append(
            .init(
                name: "previews", value: settings.previews.rawValue,
                allowed: AppSettings.Previews.allCases.map(\.rawValue)))
        choices.append(
            .init(
                name: "missed", value: settings.missed.rawValue, allowed: AppSettings.Missed.allCases.map(\.rawValue)))
        choices.append(
            .init(name: Self.missedHours, value: "\(settings.missedHours)", allowed: [Self.missedHourWords]))
        return choices
    }

    /// Changes one setting.
    ///
    /// - Returns: The fault in the name or the value, and its remedy; `nil` when the setting was changed.
    package mutating func set(_ name: String, to value: String, under policy: AppManifest.Authorization) -> String? {
        if name == Self.allowed {
            guard policy == .ask else {
                return "allowed is the policy of the app's manifest (`authorization`: \(policy.rawValue))"
            }
            guard let found = Self.authorizations.first(where: { $0.0 == value }) else {
                return Self.wrong(name, Self.authorizations.map(\.0))
            }
            authorization = found.1
        } else if let found = Self.switches.first(where: { $0.name == name }) {
            guard Self.onOff.contains(value) else { return Self.wrong(name, Self.onOff) }
            settings[keyPath: found.value] = value == "on"
        } else if name == "style" {
            guard let style = AppSettings.AlertStyle(rawValue: value) else {
                return Self.wrong(name, AppSettings.AlertStyle.allCases.map(\.rawValue))
            }
            settings.alertStyle = style
        } else if name == "previews" {
            guard let previews = AppSettings.Previews(rawValue: value) else {
                return Self.wrong(name, AppSettings.Previews.allCases.map(\.rawValue))
            }
            settings.previews = previews
        } else if name == "missed" {
            guard let missed = AppSettings.Missed(rawValue: value) else {
                return Self.wrong(name, AppSettings.Missed.allCases.map(\.rawValue))
            }
            settings.missed = missed
        } else if name == Self.missedHours {
            guard let hours = Int(value), AppSettings.missedHourRange.contains(hours) else {
                return "\(name) must be \(Self.missedHourWords)"
            }
            settings.missedHours = hours
        } else {
            let names = [Self.allowed] + Self.switches.map(\.name) + ["style", "previews", "missed", Self.missedHours]
            return "there is no setting \(name); there are: \(names.joined(separator: ", "))"
        }
        return nil
    }

    private static func wrong(_ name: String, _ allowed: [String]) -> String {
        "\(name) must be one of: \(allowed.joined(separator: ", "))"
    }
}
