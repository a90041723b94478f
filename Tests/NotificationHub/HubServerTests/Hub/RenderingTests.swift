import HubProtocol
import HubServer
import PushCore
import Synchronization
import Testing

/// Templates of installations that fail in a send: for their own installation alone.
struct RenderingTests {
    /// A template that greets, with a text for German.
    private static let greeting = #"""
        ,"locale":"de-AT","templates":{"t":{"body":"{\"aps\":{\"alert\":\"{'Hi ' + $(name)}\"}}",
         "locales":{"de":{"body":"{\"aps\":{\"alert\":\"{'Hallo ' + $(name)}\"}}"}}}}
        """#

    private static func greeting(of bytes: Int) -> String {
        greeting + #","pushVariables":{"name":"\#(String(repeating: "x", count: bytes))"}"#
    }

    /// What an installation's owner may write, and why its notification cannot be handed over.
    private static let faults: [(more: String, outcome: SendOutcome, reason: String)] = [
        (greeting(of: 5000), .invalidNotificationSize, "PayloadTooLarge"),
        (greeting(of: 40_000), .invalidNotificationSize, "PayloadTooLarge"),
        (
            #","templates":{"t":{"body":"{}","expiry":"$(name)"}}"#, .invalidNotificationFormat,
            "BadHeader servicebusnotification-apns-expiry"
        ),
        (
            #","templates":{"t":{"body":"{}","headers":{"apns-priority":"$(name)"}}}"#, .invalidNotificationFormat,
            "BadHeader apns-priority"
        ),
    ]

    @Test(arguments: [false, true], faults.indices)
    func `a template that fails is told of its own installation, and the others get theirs`(
        isCampaign: Bool, place: Int
    ) async throws {
        let fault = Self.faults[place]
        let world = try await HubWorld()
        for id in ["one", "two"] { try await world.put(id, Self.greeting, channel: id) }
        try await world.put("three", fault.more, channel: "three")
        let body = #"{"name":"you"}"#
        let record =
            isCampaign
            ? try await world.campaign("{}", format: .template, body: body)
            : try await world.send(nil, format: .template, body: body)
        _ = try await world.runner.runAll()
        #expect(try await world.now(record).state == .completed)
        #expect(world.sender.channels == ["one", "two"])
        let rows = try await world.hubs.recipients(
            of: record, hub: world.hub, after: nil, limit: 9, by: NoTimelines())
        #expect(rows.map(\.end) == [.accepted, .accepted, .refused])
        #expect(rows.last?.outcome == fault.outcome)
        #expect(rows.last?.reason == fault.reason)
        #expect(rows.last?.attempts == 0)
        let report = try await world.hubs.report(record.id, of: world.hub, by: NoTimelines())
        #expect(report.ends == [.accepted: 2, .refused: 1])
        #expect(report.parts[.reason]?[fault.reason]?[.targeted] == 1)
    }

    /// A template whose payload has so many bytes that count on a platform.
    private func template(of bytes: Int, for platform: HubPlatform, type: String? = nil) -> String {
        let (head, tail) =
            switch platform {
            case .fcmv1, .gcm: (#"{"message":{"data":{"k":""#, #""}}}"#)
            default: (#"{"k":""#, #""}"#)
            }
        let around = platform == .fcmv1 || platform == .gcm ? 1 : (head + tail).utf8.count
        let body = JSONValue.string(head + String(repeating: "x", count: bytes - around) + tail).json
        let headers = type.map { #","headers":{"apns-push-type":"\#($0)"}"# } ?? ""
        return #","templates":{"t":{"body":\#(body)\#(headers)}}"#
    }

    @Test(
        arguments: [
            (HubPlatform.apns, nil, 4096), (.aldaba, nil, 4096), (.apns, "voip", 5120), (.fcmv1, nil, 4096),
            (.gcm, nil, 4096),
            (.browser, nil, 3993),
        ] as [(HubPlatform, String?, Int)])
    func `a rendering may be as large as its own push service takes`(
        platform: HubPlatform, type: String?, limit: Int
    ) async throws {
        let sender = RecordingSender()
        let world = try await HubWorld(senders: [platform: sender])
        let channel = platform == .browser ? #"{"endpoint":"https://h/e","p256dh":"a","auth":"b"}"# : #""c""#
        for isMore in [false, true] {
            let more = template(of: limit + (isMore ? 1 : 0), for: platform, type: type)
            let text = #"{"platform":"\#(platform.text)","pushChannel":\#(channel)\#(more)}"#
            _ = try await world.hubs.put(try InstallationJSON.read(try JSONValue(text: text), id: "i"), of: world.hub)
            let record = try await world.campaign("{}", format: .template, body: "{}")
            _ = try await world.runner.runAll()
            #expect(try await world.now(record).state == .completed)
            #expect(
                try await world.details(record).outcomes.map(\.outcome)
                    == [isMore ? .invalidNotificationSize : .success])
            #expect(sender.pushes.count == 1)
            let preview = try await world.hubs.preview(record.request, for: "i", of: world.hub)
            #expect(preview.limit == (type == nil ? limit : 4096))
        }
    }

    @Test func `a browser in the audience stops no campaign that is too large for browsers alone`() async throws {
        let world = try await HubWorld()
        try await world.put("phone", channel: "phone")
        let text = #"{"platform":"browser","pushChannel":{"endpoint":"https://h/e","p256dh":"a","auth":"b"}}"#
        _ = try await world.hubs.put(try InstallationJSON.read(try JSONValue(text: text), id: "b"), of: world.hub)
        // Within what Apple takes, and not within what is left of encrypted bytes.
        let body = #"{"title":"x","locales":{"de":{"title":"\#(String(repeating: "x", count: 4030))"}}}"#
        let record = try await world.campaign("{}", body: body)
        _ = try await world.runner.runAll()
        #expect(try await world.now(record).state == .completed)
        #expect(world.sender.channels == ["phone"])
    }

    @Test func `a slice ends where its payloads have so many bytes, and the next goes on behind it`() async throws {
        let counting = SliceCounter()
        let world = try await HubWorld(senders: [.apns: counting])
        let templates = (0..<50).map { #""t\#($0)":{"body":"{\"k\":\"$(k)\"}"}"# }.joined(separator: ",")
        for number in 0..<60 { try await world.put("i\(number)", #","templates":{\#(templates)}"#) }
        let record = try await world.send(
            nil, format: .template, body: #"{"k":"\#(String(repeating: "x", count: 4000))"}"#)
        _ = try await world.runner.runAll()
        #expect(try await world.now(record).state == .completed)
        let slices = counting.slices
        #expect(slices.reduce(0) { $0 + $1.pushes } == 3000)
        // One installation of fifty templates may stand at the end.
        #expect(slices.allSatisfy { $0.bytes <= 512 * 5120 + 50 * 4096 })
        #expect(slices.count > 1)
    }

    @Test func `a test send tells of all, also where one slice is not enough`() async throws {
        let counting = SliceCounter()
        let world = try await HubWorld(senders: [.apns: counting])
        let templates = (0..<50).map { #""t\#($0)":{"body":"{\"k\":\"$(k)\"}"}"# }.joined(separator: ",")
        for number in 0..<20 {
            try await world.put("i\(number)", #","tags":["test-device"],"templates":{\#(templates)}"#)
        }
        let request = SendRequest(
            format: .template, body: Array(#"{"k":"\#(String(repeating: "x", count: 4000))"}"#.utf8),
            target: .audience(nil), campaign: "c")
        let trials = try await world.hubs.tryOut(request, on: nil, of: world.hub)
        #expect(trials.flatMap(\.results).count == 1000)
        #expect(counting.slices.count > 1)
        let send = try #require(trials.first).send
        #expect(try await world.now(send).state == .completed)
    }

    @Test func `a preview tells which of an installation's templates makes no payload`() async throws {
        let world = try await HubWorld()
        try await world.put(
            "one",
            #"""
            ,"templates":{"small":{"body":"{\"aps\":{\"alert\":\"$(name, 5)\"}}"},
             "large":{"body":"{\"aps\":{\"alert\":\"{$(name)+$(name)+$(name)}\"}}"}}
            """#)
        let name = String(repeating: "x", count: 12_000)
        let record = try await world.campaign("{}", format: .template, body: #"{"name":"\#(name)"}"#)
        let preview = try await world.hubs.preview(record.request, for: "one", of: world.hub)
        #expect(preview.renderings.map(\.name) == ["small", "large"])
        #expect(preview.renderings[0].fault == nil)
        #expect(
            preview.renderings[1].fault
                == "body/aps/alert: the rendering would have more than 32768 bytes; this begins at byte 16")
        #expect(preview.renderings[1].body.isEmpty)
    }
}

/// A push service that takes everything, and notes how much each slice has.
private final class SliceCounter: PushSender {
    private let state = Mutex<[(pushes: Int, bytes: Int)]>([])

    var slices: [(pushes: Int, bytes: Int)] { state.withLock { $0 } }

    func deliver(_ pushes: [HubPush], of hub: HubRecord) async -> [PushVerdict?] {
        state.withLock { $0.append((pushes.count, pushes.reduce(0) { $0 + $1.body.count })) }
        return pushes.map { _ in PushVerdict(.success) }
    }
}
