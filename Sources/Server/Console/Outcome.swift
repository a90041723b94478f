import PushCore
import Texts

/// The meaning of a timeline's state for a person.
struct Outcome {
    /// The kind of a state, which pages show by a sign and a colour.
    enum Tone: String {
        /// The notification arrived.
        case good
        /// The notification is in transit, or waits.
        case neutral
        /// The notification arrived and was not shown, or ended before that.
        case warn
        /// The notification was refused or lost.
        case bad

        /// The sign beside the state's name.
        var mark: String {
            switch self {
            case .good: "✓"
            case .neutral: "…"
            case .warn: "!"
            case .bad: "✗"
            }
        }
    }

    /// The state's name without its argument.
    let name: String
    /// The argument in parentheses; `nil` where there is none.
    let argument: String?

    /// Reads a state's text form, `dropped(offline)`.
    init(state: String) {
        let parts = state.split(separator: "(", maxSplits: 1)
        name = parts.first.map(String.init) ?? ""
        argument = parts.count == 2 ? String(parts[1].dropLast()) : nil
    }

    /// The line of a timeline that says what became of a notification: the last one, unless the device said before it whether
    /// the notification was shown.
    static func decisive(_ entries: [JSONValue]) -> JSONValue? {
        func last(_ names: Set<String>) -> JSONValue? {
            entries.last { names.contains(Outcome(state: $0["state"]?.text ?? "").name) }
        }
        let name = entries.last.map { Outcome(state: $0["state"]?.text ?? "").name }
        return switch name {
        case "handed", "acked": last(["suppressed", "undecryptable", "presented"]) ?? entries.last
        case "unanswered": last(["suppressed", "undecryptable"]) ?? entries.last
        default: entries.last
        }
    }

    /// The kind of the state.
    var tone: Tone {
        switch name {
        case "presented", "opened", "action", "dismissed", "handed": .good
        case "accepted", "stored", "sent", "acked", "decrypted", "extended": .neutral
        case "expired", "replaced", "withdrawn", "suppressed", "unanswered": .warn
        default: .bad
        }
    }

    /// The sentence that says what became of a notification whose timeline ends in the state.
    func why(_ texts: Catalogue) -> String { find("why", texts) ?? name }

    /// The sentence that says what to do about it; `nil` where nothing is to be done.
    func advice(_ texts: Catalogue) -> String? { find("advice", texts) }

    /// The name that Apple's console has for the state, in the metrics of "Viewing the status of push notifications using
    /// Metrics and APNs"; `nil` where it has none.
    var apple: String? {
        switch (name, argument) {
        case ("accepted", _): "Received by APNs"
        case ("stored", _): "Stored - Device Offline"
        case ("acked", _): "Delivered to Device"
        case ("expired", _): "Discarded - Expired"
        case ("dropped", "unregistered"): "Discarded - Token Unregistered"
        case ("suppressed", "settings"): "Discarded - Disabled"
        default: nil
        }
    }

    /// An argument may end with how long it took: `changed, 412 ms`.
    private func find(_ kind: String, _ texts: Catalogue) -> String? {
        let key = "\(kind).\(name)"
        guard let argument else { return texts.texts[key] }
        if let text = texts.texts["\(key).\(argument.prefix { $0 != "," })"] { return text }
        return texts.texts[key].map { _ in texts.text(key, ["reason": argument]) }
    }
}
