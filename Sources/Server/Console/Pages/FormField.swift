import PushCore
import PushServer
import Texts

/// A field of a form as the template `form-field` shows it.
struct FormField {
    /// The value that a person enters.
    enum Kind {
        /// A line, with the type of the browser's field.
        case line(type: String)
        /// Some lines.
        case area(rows: Int)
        /// A choice of some values; an empty value is the choice of none.
        case choice([String])
        /// Yes or no.
        case check
    }

    let name: String
    var kind = Kind.line(type: "text")

    /// The field with its value and the fault in it.
    ///
    /// - Parameters:
    ///   - prefix: The beginning of the keys of its texts: `prefix.name`, and `prefix.name.hint` where there is a hint.
    ///   - form: The beginning of its id on a page with several forms; empty for the only one.
    func view(
        _ value: String, fault: String?, prefix: String, form: String = "", _ texts: Catalogue
    ) -> [String: Any] {
        let key = "\(prefix).\(name)"
        let id = form + name
        let hint = texts.texts["\(key).hint"]
        var view: [String: Any] = [
            "id": id, "name": name, "label": texts.text(key), "value": value, "hint": hint.shown, "fault": fault.shown,
            "described": String?(
                [hint.map { _ in "\(id)-hint" }, fault.map { _ in "\(id)-fault" }]
                    .compactMap(\.self).joined(separator: " ")
            ).shown, "isWide": false, "line": false, "area": false, "choice": false,
            "check": false,
        ]
        switch kind {
        case .line(let type): view["line"] = ["type": type]
        case .area(let rows):
            view["area"] = ["rows": rows]
            view["isWide"] = true
        case .choice(let values):
            view["choice"] = [
                "options": values.map {
                    [
                        "value": $0, "text": texts.text($0.isEmpty ? "hub.default" : "\(key).\($0)"),
                        "isChosen": $0 == value,
                    ] as [String: Any]
                }
            ]
        case .check: view["check"] = ["isChosen": !value.isEmpty]
        }
        return view
    }
}

extension String? {
    /// The text for a section of a template, which an empty text would open as well.
    var shown: Any { self.flatMap { $0.isEmpty ? nil : $0 } ?? false }
}
