import HTTPTypes
import Hummingbird
import NIOCore
import PushCore
import PushServer
import Texts

/// The page where a person writes a notification, sees it, and sends it.
enum ComposePage {
    static func add(to routes: ConsoleRoutes) {
        routes.get("compose") { pageRequest in
            var form = ComposeForm()
            for name in pageRequest.query.names { form[name] = pageRequest.query.first(name) ?? "" }
            return try await show(form, pageRequest)
        }
        routes.post("compose/preview") { pageRequest in
            var form = try await ComposeForm.read(pageRequest.request)
            guard form["fragment"].isEmpty else {
                let checked = try await CheckedMessage(form, pageRequest)
                return fragment(
                    pageRequest.pages.fragment("compose-preview", texts: pageRequest.texts, checked.view(pageRequest)))
            }
            let fault = try await upload(&form, pageRequest)
            return try await show(form, pageRequest, faults: [fault].compactMap(\.self))
        }
        routes.post("compose/send") { try await send($0) }
        routes.post("compose/import") { try await read($0) }
    }

    private static func fragment(_ html: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: html)))
    }

    /// The page with a form and its preview.
    static func show(
        _ form: ComposeForm, _ pageRequest: PageRequest, faults: [ComposeFault] = [], notice: String? = nil,
        fault: String? = nil,
        confirm: Int? = nil
    ) async throws -> Response {
        var form = form
        if form["hub"].isEmpty { form["hub"] = try await defaultHub(pageRequest) }
        var checked = try await CheckedMessage(form, pageRequest)
        checked.faults = faults + checked.faults
        var values = checked.view(pageRequest)
        values.merge(ComposeFields(form: form, faults: checked.faults, texts: pageRequest.texts).view) { first, _ in
            first
        }
        values["apps"] = try await pageRequest.json("/v1/apps")["apps"]?.view
        values["key"] = form["key"].isEmpty ? newKey() : form["key"]
        values["notice"] = notice
        values["fault"] = fault
        values["mediaBytes"] = form["mediaBytes"]
        if let confirm {
            values["confirm"] = [
                "text": pageRequest.texts.text("compose.confirm", count: confirm), "count": String(confirm),
            ]
        }
        let same = try await checked.request(pageRequest).map {
            SameRequest(method: "POST", path: $0.path, body: $0.body.json)
        }
        return pageRequest.page(
            "compose", title: pageRequest.texts.text("compose.title"), section: "compose", same: same,
            status: fault != nil || !faults.isEmpty ? .unprocessableContent : .ok, values)
    }

    /// A key by which the server recognizes that a form was sent twice.
    private static func newKey() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }

    /// The first hub; the demo app's where the server does not tell.
    private static func defaultHub(_ pageRequest: PageRequest) async throws -> String {
        let answer = try await pageRequest.call(.get, "/v1/hubs")
        return answer.json["hubs"]?.items?.first?["name"]?.text ?? "todo"
    }

    /// Uploads the file of a form, and puts its address into the form.
    static func upload(_ form: inout ComposeForm, _ pageRequest: PageRequest) async throws -> ComposeFault? {
        guard let file = form.file else { return nil }
        form.file = nil
        let answer = try await pageRequest.api.call(
            .post, "/v1/media", bytes: ByteBuffer(bytes: file.bytes),
            headers: [.contentType: "application/octet-stream"], in: pageRequest.context)
        guard answer.isSuccess, let address = answer.json["url"]?.text else {
            return ComposeFault(field: "media", text: answer.message)
        }
        form["media"] = address
        form["mediaBytes"] = String(file.bytes.count)
        form["mediaKind"] = answer.json["type"]?.text?.hasPrefix("video/") == true ? "video" : "image"
        return nil
    }

    /// Reads a pasted payload, or a file, into the form.
    private static func read(_ pageRequest: PageRequest) async throws -> Response {
        let form = try await ComposeForm.read(pageRequest.request)
        let bytes = form.file?.bytes ?? Array(form["payload"].utf8)
        let tree: JSONValue
        do { tree = try JSONValue(object: bytes) } catch {
            let text = String(decoding: bytes, as: UTF8.self)
            let body = JSONValue.object([.init("payload", .string(text))])
            let answer = try await pageRequest.call(.post, "/v1/payloads/check", body: body)
            let why = answer.json["faults"]?.items?.first.map(Self.sentence) ?? "\(error)"
            var same = ComposeForm()
            same["payload"] = text
            return try await show(
                same, pageRequest, fault: pageRequest.texts.text("compose.import.fault", ["why": why]))
        }
        let body = JSONValue.object([.init("payload", .string(String(decoding: bytes, as: UTF8.self)))])
        let answer = try await pageRequest.call(.post, "/v1/payloads/check", body: body)
        let warning = answer.json["faults"]?.items?.first.map(Self.sentence)
        return try await show(
            PayloadFileReader.form(tree), pageRequest,
            notice: warning.map { pageRequest.texts.text("compose.import.warning", ["why": $0]) }
                ?? pageRequest.texts.text("compose.imported"))
    }

    private static func sentence(_ fault: JSONValue) -> String {
        let place = "\(fault["line"]?.json ?? ""):\(fault["column"]?.json ?? "")"
        return "\(place): \(fault["what"]?.text ?? "")" + (fault["meant"]?.text.map { "; \($0)" } ?? "")
    }
}
