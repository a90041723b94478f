import HTTPTypes
import Hummingbird
import PushCore
import PushServer
import Texts

extension ComposePage {
    /// The most recipients for whom no number is typed.
    private static let mostWithoutNumber = 1000

    /// Sends the notification of a form, or tries it on the test devices.
    static func send(_ pageRequest: PageRequest) async throws -> Response {
        var form = try await ComposeForm.read(pageRequest.request)
        if let fault = try await upload(&form, pageRequest) {
            return try await show(form, pageRequest, faults: [fault])
        }
        let checked = try await CheckedMessage(form, pageRequest)
        guard checked.faults.isEmpty else {
            return try await show(
                form, pageRequest, fault: pageRequest.texts.text("compose.faults", count: checked.faults.count))
        }
        if form["do"] == "test" { return try await tryOut(form, checked, pageRequest) }
        guard !checked.target.isEmpty else {
            let fault = ComposeFault(field: checked.target.field, text: "compose.fault.nobody")
            return try await show(form, pageRequest, faults: [fault])
        }
        if let count = checked.recipients, count > mostWithoutNumber, form.line("confirm") != String(count) {
            let isWrong = !form["confirm"].isEmpty
            return try await show(
                form, pageRequest, fault: isWrong ? pageRequest.texts.text("compose.confirm.wrong") : nil,
                confirm: count)
        }
        guard let request = try await checked.request(pageRequest) else { throw ControlError.unavailable }
        var headers: HTTPFields = [:]
        if checked.target.expression != nil, !form["key"].isEmpty { headers[.idempotencyKey] = form["key"] }
        let answer = try await pageRequest.call(.post, request.path, body: request.body, headers: headers)
        guard answer.isSuccess, let id = answer.json["id"]?.text else {
            return try await refusal(answer, form, checked, pageRequest)
        }
        guard checked.target.expression != nil else {
            return pageRequest.redirect(to: "/console/notifications/\(QueryText.encoded(id))")
        }
        var query = QueryText()
        query.add("hub", form.line("hub"))
        return pageRequest.redirect(to: "/console/campaigns/\(QueryText.encoded(id))\(query.text)")
    }

    /// Shows the form with what the server refused, at its field.
    private static func refusal(
        _ answer: ConsoleAPI.Answer, _ form: ComposeForm, _ checked: CheckedMessage, _ pageRequest: PageRequest
    ) async throws -> Response {
        let reason = answer.json["reason"]?.text
        let text = [reason, answer.message].compactMap(\.self).joined(separator: ": ")
        let field = answer.json["pointer"]?.text.map(checked.message.field) ?? checked.target.field
        return try await show(
            form, pageRequest, faults: [ComposeFault(field: field, text: text)],
            fault: pageRequest.texts.text("compose.refused", ["why": text]))
    }

    /// Sends to the test devices, and shows what became of it.
    private static func tryOut(
        _ form: ComposeForm, _ checked: CheckedMessage, _ pageRequest: PageRequest
    ) async throws -> Response {
        guard let content = checked.content else { throw ControlError.unavailable }
        var body = ComposedSend(form).campaign(content: content, at: nil)
        body.set("audience", nil)
        let devices = form.line("testDevices").split { $0 == "," || $0.isWhitespace }
        if !devices.isEmpty { body.set("devices", .array(devices.map { .string(String($0)) })) }
        let path = "/v1/hubs/\(QueryText.encoded(form.line("hub")))/campaigns/test"
        let answer = try await pageRequest.call(.post, path, body: body)
        guard answer.isSuccess else {
            return try await show(
                form, pageRequest, faults: [ComposeFault(field: "testDevices", text: answer.message)],
                fault: pageRequest.texts.text("compose.refused", ["why": answer.message]))
        }
        let results = (answer.json["trials"]?.items ?? []).flatMap { trial in
            (trial["results"]?.items ?? []).map { result in
                let variant = trial["variant"]?.text.map { " (\($0))" } ?? ""
                return "\(result["installationId"]?.text ?? "")\(variant): \(result["outcome"]?.text ?? "")"
            }
        }
        return try await show(
            form, pageRequest,
            notice: pageRequest.texts.text("compose.tried", ["results": results.joined(separator: ", ")]))
    }
}

extension HTTPField.Name {
    fileprivate static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
}
