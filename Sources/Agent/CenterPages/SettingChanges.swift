/// The settings that a person changed in a form.
///
/// A form tells each value as it was when the page was made. Only those that differ are changes, so that two open pages do not undo
/// each other, and a decision that nobody made is not stored.
package enum SettingChanges {
    /// The beginning of the names of fields that carry values as they were.
    package static let before = "before."

    /// The changed values by the names of their settings.
    ///
    /// - Parameter fields: The fields of the form. A switch that is off sends none.
    package static func of(_ fields: [(name: String, value: String)]) -> [String: String] {
        let values = Dictionary(fields.map { ($0.name, $0.value) }) { first, _ in first }
        var changes: [String: String] = [:]
        for (field, old) in values where field.hasPrefix(before) {
            let name = String(field.dropFirst(before.count))
            let new = values[name] ?? (old == "on" ? "off" : old)
            if new != old { changes[name] = new }
        }
        return changes
    }
}
