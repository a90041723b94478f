import Foundation
import PushCore
import PushServer
import Texts

/// A cell of a table of the account.
enum AccountCell {
    case text(String?)
    case code(String?)
    case link(String, to: String)
    case time(String?)
    case state(String, Outcome.Tone)

    func view(_ pageRequest: PageRequest) -> [String: Any] {
        var view: [String: Any] = ["text": false, "code": false, "link": false, "time": false, "state": false]
        switch self {
        case .text(let text): view["text"] = text.shown
        case .code(let text): view["code"] = text.shown
        case .link(let text, let path): view["link"] = ["words": text, "to": path]
        case .time(let text): view["time"] = pageRequest.time(text) ?? false
        case .state(let words, let tone):
            view["state"] = ["words": words, "tone": tone.rawValue, "mark": tone.mark]
        }
        return view
    }

    /// How many days a certificate is still valid.
    static func daysLeft(_ days: Int64?, _ texts: Catalogue) -> AccountCell {
        let days = Int(days ?? 0)
        if days < 0 { return .state(texts.text("account.days.ended", count: -days), .bad) }
        return .state(texts.text("account.days.left", count: days), days < warningDays ? .warn : .good)
    }

    /// The remaining days below which a certificate is marked.
    static let warningDays = 30
}

/// A table of the account, each row with what can be done to it.
struct AccountTable {
    /// The action of a row: a page that asks first, or a form that acts at once.
    struct Action {
        var key: String
        var object: String
        var path: String
        var isForm = false

        func view(_ texts: Catalogue) -> [String: Any] {
            [
                "words": texts.text("account.\(key)"), "name": "\(texts.text("account.\(key)")) \(object)", "to": path,
                "isForm": isForm,
            ]
        }
    }

    /// The beginning of the keys of its texts.
    var key: String
    var columns: [String]
    var rows: [(cells: [AccountCell], actions: [Action])]

    func view(_ pageRequest: PageRequest) -> [String: Any] {
        let hasActions = rows.contains { !$0.actions.isEmpty }
        return [
            "heading": pageRequest.texts.text("\(key).list"),
            "columns": columns.map { pageRequest.texts.text("account.column.\($0)") }
                + (hasActions ? [pageRequest.texts.text("account.actions")] : []),
            "rows": rows.map { row in
                [
                    "cells": row.cells.map { $0.view(pageRequest) },
                    "actions": hasActions ? ["list": row.actions.map { $0.view(pageRequest.texts) }] as Any : false,
                ] as [String: Any]
            },
            "empty": rows.isEmpty ? pageRequest.texts.text("\(key).none") as Any : false,
        ]
    }
}

/// A form of the account.
struct AccountForm {
    /// The beginning of the keys of its texts.
    var key: String
    var action: String
    var fields: [FormField]
    /// The values and texts of choices that depend on the register, by their fields' names.
    var choices: [String: [(value: String, text: String)]] = [:]
    /// The values of fields where nothing was entered.
    var values: [String: String] = [:]

    /// - Parameter entered: What was entered and refused; `nil` for a form that was not sent.
    func view(_ pageRequest: PageRequest, entered: RefusedForm?) -> [String: Any] {
        let own = entered.flatMap { $0.action == action ? $0 : nil }
        let fields = fields.map { field in
            let value = own?.fields.first(field.name) ?? own.map { _ in "" } ?? values[field.name] ?? ""
            var view = field.view(
                value, fault: own?.fault(of: field.name), prefix: key, form: key.replacing(".", with: "-") + "-",
                pageRequest.texts)
            if let options = choices[field.name] {
                view["choice"] = [
                    "options": options.map {
                        ["value": $0.value, "text": $0.text, "isChosen": $0.value == value] as [String: Any]
                    }
                ]
            }
            return view
        }
        let hint = pageRequest.texts.texts["\(key).hint"]
        return [
            "heading": pageRequest.texts.text(key), "hint": hint.shown, "fields": fields, "action": action,
            "button": pageRequest.texts.text("\(key).button"),
        ]
    }
}

/// A form that the API refused.
struct RefusedForm {
    var action: String
    var fields: FormFields
    var answer: ConsoleAPI.Answer

    /// The refusal of a field: messages of the API begin with the name of the member that is wrong.
    func fault(of field: String) -> String? {
        answer.message.hasPrefix("\(field) ") || answer.message.hasPrefix("\(field):") ? answer.message : nil
    }

    /// The refusal of the whole form.
    func sentence(_ texts: Catalogue) -> String {
        let known = texts.texts["account.fault.\(answer.json["code"]?.text ?? "")"]
        return [known, answer.message].compactMap(\.self).joined(separator: " ")
    }
}

/// A secret that a page shows this once, with a link by which it is saved.
struct AccountSecret {
    var name: String
    var text: String
    /// The name of the file; `nil` for a secret that is copied.
    var file: String?

    func view(_ texts: Catalogue) -> [String: Any] {
        var view: [String: Any] = ["name": texts.text(name), "text": text, "file": false]
        if let file {
            let address = "data:application/octet-stream;base64,\(Data(text.utf8).base64EncodedString())"
            view["file"] = ["words": texts.text("account.once.save", ["file": file]), "name": file, "to": address]
        }
        return view
    }
}
