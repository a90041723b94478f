import Foundation
import HTTPTypes
import PushCore
import PushServer
import Texts

/// A form with what the API's routes say about it: faults, payloads, the number of recipients.
struct CheckedMessage {
    let form: ComposeForm
    let send: ComposedSend
    /// The content as a campaign has it; `nil` where the form cannot be read.
    private(set) var content: JSONValue?
    var faults: [ComposeFault] = []
    private(set) var usage: [PayloadUsage] = []
    /// The payloads without a language, by platform.
    private(set) var payloads: [String: JSONValue] = [:]
    /// The number of recipients; `nil` where it is not known beforehand.
    private(set) var recipients: Int?
    /// Ten of the recipients.
    private(set) var sample: [String] = []
    private let now = Timestamp(rawValue: Int64(Date().timeIntervalSince1970 * 1000))

    var message: ComposedMessage { send.message }
    var target: ComposedTarget { send.target }

    /// Asks the routes; nothing is sent.
    init(_ form: ComposeForm, _ pageRequest: PageRequest) async throws {
        self.form = form
        send = ComposedSend(form)
        // A new form is empty; that is no fault yet.
        guard ["key", "title", "body", "silent"].contains(where: { !form[$0].isEmpty }) else { return }
        try await checkContent(pageRequest)
        try await estimate(pageRequest)
    }

    private mutating func checkContent(_ pageRequest: PageRequest) async throws {
        let content: JSONValue
        do { content = try message.content() } catch {
            faults.append(error)
            return
        }
        let body = JSONValue.object([.init("content", content)])
        let answer = try await pageRequest.call(.post, "/v1/payloads/check", body: body)
        guard answer.isSuccess else {
            faults.append(
                ComposeFault(field: message.field(of: answer.json["pointer"]?.text ?? ""), text: answer.message))
            return
        }
        self.content = content
        usage = PayloadUsage.read(answer.json)
        for rendering in answer.json["renderings"]?.items ?? [] where rendering["locale"] == nil {
            payloads[rendering["platform"]?.text ?? ""] = rendering["payload"]
        }
        for row in usage where row.isTooLarge && isMeant(row.service) {
            let field = row.language.map { "body.\($0)" } ?? "body"
            faults.append(
                ComposeFault(
                    field: field, text: "compose.fault.size",
                    values: [
                        "service": pageRequest.texts.text("compose.service.\(row.service)"),
                        "bytes": pageRequest.texts.language.number(row.bytes),
                        "limit": pageRequest.texts.language.number(row.limit),
                    ]))
        }
    }

    /// Whether a payload of a service is sent: to one token or a topic only Apple's is, to a hub each may be.
    private func isMeant(_ service: String) -> Bool {
        service == "apns" || (service != "voip" && target.expression != nil)
    }

    private mutating func estimate(_ pageRequest: PageRequest) async throws {
        guard let expression = target.expression, !target.isEmpty else { return }
        let path = "/v1/hubs/\(QueryText.encoded(form.line("hub")))/audience"
        let body = JSONValue.object([.init("expression", .string(expression))])
        let answer = try await pageRequest.call(.post, path, body: body)
        guard answer.isSuccess else {
            let isHub = answer.status == .notFound
            faults.append(ComposeFault(field: isHub ? "hub" : target.field, text: answer.message))
            return
        }
        recipients = answer.json["contents"]?.integer.map(Int.init)
        sample = answer.json["sample"]?.items?.compactMap(\.text) ?? []
    }

    /// The request by which it is sent; `nil` where the form has faults.
    func request(_ pageRequest: PageRequest) async throws -> (path: String, body: JSONValue)? {
        guard let content, let payload = payloads["apns"] else { return nil }
        switch target {
        case .token, .device: return ("/v1/notifications", send.push(payload: payload, now: now))
        case .topic, .condition:
            let apps = try await pageRequest.json("/v1/apps")["apps"]?.items ?? []
            let app = apps.first { $0["topic"]?.text == form.line("app") } ?? apps.first
            return ("/v1/broadcasts", send.broadcast(payload: payload, team: app?["team"]?.text ?? "", now: now))
        case .person, .expression, .everybody:
            let at = form.line("when") == "at" ? pageRequest.instant(form.line("at")) ?? form.line("at") : nil
            return (
                "/v1/hubs/\(QueryText.encoded(form.line("hub")))/campaigns",
                send.campaign(content: content, at: at)
            )
        }
    }

    /// The preview for templates.
    func view(_ pageRequest: PageRequest) -> [String: Any] {
        let texts = pageRequest.texts
        let shown = form.languages.contains(form.line("shown")) ? form.line("shown") : nil
        let app = form.line("app").isEmpty ? texts.text("compose.app") : form.line("app")
        var view: [String: Any] = [
            "faults": faults.map { fault in
                ["field": fault.field, "text": fault.text(texts), "label": ComposeFields.label(fault.field, texts)]
            },
            "screens": ComposedMessage.hasTexts(message)
                ? ScreenPreview.Screen.allCases.compactMap {
                    ScreenPreview(message, in: shown, on: $0)?.view(texts, app: app)
                } : [],
            "silent": message.isSilent, "hasPayloads": !payloads.isEmpty, "usage": usage.map { $0.view(texts) },
            "views": views(texts),
        ]
        view["status"] = faults.isEmpty ? nil : texts.text("compose.faults", count: faults.count)
        if let recipients {
            var audience: [String: Any] = ["text": texts.text("compose.recipients", count: recipients)]
            if !sample.isEmpty { audience["sample"] = sample.joined(separator: ", ") }
            view["audience"] = audience
        }
        view["load"] = load(texts)
        return view
    }

    private func views(_ texts: Catalogue) -> [[String: Any]] {
        guard !payloads.isEmpty else { return [] }
        let views = MessageViews(
            message: message, target: target, payloads: payloads, topic: form.line("app"), now: now)
        let list: [(String, String)] = [
            ("apns", views.apns), ("fcm", views.fcm), ("web", views.webPush),
            ("declarative", views.declarative ?? texts.text("compose.declarative.none")), ("azure", views.azure),
            ("curl", views.curl), ("command", views.command),
        ]
        return list.map { ["id": $0, "name": texts.text("compose.view.\($0)"), "text": $1] }
    }

    /// The load of a picture for many on its host; `nil` where it is small.
    private func load(_ texts: Catalogue) -> [String: Any]? {
        guard let devices = recipients, devices > 1, !message.media.isEmpty else { return nil }
        let bytes = Int(form.line("mediaBytes")) ?? 1_000_000
        let load = PictureLoad(
            bytes: bytes, devices: devices, rate: Int(form.line("rate")).flatMap { $0 > 0 ? $0 : nil })
        let values = [
            "size": PictureLoad.size(bytes, texts), "devices": texts.language.number(devices),
            "total": PictureLoad.size(load.total, texts), "second": PictureLoad.size(load.perSecond, texts),
            "seconds": texts.language.number(load.seconds),
        ]
        var view: [String: Any] = [
            "text": texts.text(load.rate == nil ? "compose.load.atonce" : "compose.load.spread", values)
        ]
        if form["mediaBytes"].isEmpty { view["guess"] = texts.text("compose.load.guess") }
        if let offer = load.offer {
            view["offer"] = [
                "rate": offer, "text": texts.text("compose.load.offer", ["rate": texts.language.number(offer)]),
            ]
        }
        return view
    }
}

extension ComposeFault {
    /// The fault in the reader's language; a server's own message stays as it is.
    func text(_ texts: Catalogue) -> String { texts.text(text, values) }
}

extension ComposedMessage {
    /// Whether there is a text to show.
    static func hasTexts(_ message: ComposedMessage) -> Bool {
        !message.words.title.isEmpty || !message.words.body.isEmpty
    }
}

extension PageRequest {
    /// A time of a form's field in the reader's zone as an instant of the API; `nil` for other text.
    func instant(_ text: String) -> String? {
        guard let instant = Timestamp(text: text.count == 16 ? text + ":00Z" : text + "Z") else { return nil }
        let date = Date(timeIntervalSince1970: Double(instant.rawValue / 1000))
        return instant.adding(milliseconds: Int64(-1000 * zone.secondsFromGMT(for: date))).description
    }
}
