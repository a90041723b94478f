import Foundation
import Testing

@testable import Flutter

/// Keeps what is sent, and lets a test be the other half.
@MainActor
private final class Wire: NSObject, FlutterBinaryMessenger {
    private(set) var sent: [(channel: String, message: Data?, reply: FlutterBinaryReply?)] = []
    private(set) var handlers: [String: FlutterBinaryMessageHandler] = [:]

    func send(onChannel channel: String, message: Data?) { sent.append((channel, message, nil)) }

    func send(onChannel channel: String, message: Data?, binaryReply callback: FlutterBinaryReply?) {
        sent.append((channel, message, callback))
    }

    func setMessageHandlerOnChannel(
        _ channel: String, binaryMessageHandler handler: FlutterBinaryMessageHandler?
    ) -> FlutterBinaryMessengerConnection {
        handlers[channel] = handler
        return 1
    }

    func cleanUpConnection(_ connection: FlutterBinaryMessengerConnection) {}

    func answer(to message: [UInt8], on channel: String) -> [UInt8]? {
        var answer: [UInt8]?
        handlers[channel]?(Data(message)) { answer = $0.map { [UInt8]($0) } ?? [] }
        return answer
    }
}

/// A service in the shape in which courses on cross-platform notifications write it: nothing but `import Flutter`.
@MainActor
private final class BatteryService {
    enum Fault: Error { case unknown(message: String) }

    let CHANNEL = "com.example.app/battery"
    private var channel: FlutterMethodChannel
    var level: Int?

    init(withBinaryMessenger binaryMessenger: any FlutterBinaryMessenger) {
        channel = FlutterMethodChannel(name: CHANNEL, binaryMessenger: binaryMessenger)
        channel.setMethodCallHandler({
            [weak self] (call: FlutterMethodCall, result: @escaping FlutterResult) -> Void in
            switch call.method {
            case "getLevel":
                do { result(try self?.readLevel()) } catch {
                    result(FlutterError(code: "UNAVAILABLE", message: error.localizedDescription, details: nil))
                }
            case "echo": result(call.arguments)
            default: result(FlutterMethodNotImplemented)
            }
        })
    }

    private func readLevel() throws -> Int {
        guard let level else { throw Fault.unknown(message: "no battery") }
        return level
    }
}

@MainActor @Suite struct MethodChannelTests {
    private let wire = Wire()

    @Test("a service as courses write it answers with results, errors and nothing")
    func service() throws {
        let service = BatteryService(withBinaryMessenger: wire)
        let channel = "com.example.app/battery"
        let failed = try #require(wire.answer(to: StandardMethodCall("getLevel").message, on: channel))
        guard case .failure(let code, _, .null) = try StandardMethodReply(message: failed) else {
            Issue.record("no error: \(failed)")
            return
        }
        #expect(code == "UNAVAILABLE")
        service.level = 42
        #expect(
            wire.answer(to: StandardMethodCall("getLevel").message, on: channel)
                == StandardMethodReply.success(.integer(42)).message)
        #expect(wire.answer(to: StandardMethodCall("getColor").message, on: channel) == [])
        #expect(wire.answer(to: [0xFF], on: channel) == [], "what is no call is taken by nobody")
    }

    @Test(
        "every kind of value comes back as it went",
        arguments: [
            .null, .bool(true), .bool(false), .integer(7), .integer(1 << 40), .double(1.5), .string("h\u{263A}w"),
            .bytes([1, 2]), .int32List([-1, 2]), .int64List([-1, 1 << 40]), .floatList([0.5]), .doubleList([0.25]),
            .list([.null, .integer(1), .list([.string("a")])]), .map([StandardPair(.string("a"), .null)]),
            .map([StandardPair(.integer(1), .list([.bool(false)]))]),
        ] as [StandardValue])
    func echo(_ value: StandardValue) {
        let service = BatteryService(withBinaryMessenger: wire)
        let answer = wire.answer(to: StandardMethodCall("echo", value).message, on: "com.example.app/battery")
        #expect(answer == StandardMethodReply.success(value).message)
        withExtendedLifetime(service) {}
    }

    @Test("what has no form becomes an error that says so")
    func unsupported() throws {
        let reply = FlutterStandardMethodCodec.sharedInstance().encodeSuccessEnvelope(Date())
        guard case .failure("error", let message?, .null) = try StandardMethodReply(message: [UInt8](reply)) else {
            Issue.record("no error: \([UInt8](reply))")
            return
        }
        #expect(message.contains("Date"))
        #expect(throws: UnsupportedValue.self) { try StandardValue(UInt64.max) }
    }

    @Test("a boxed number is sent as the kind that it is")
    func boxed() throws {
        #expect(try StandardValue(NSNumber(value: 1)) == .integer(1))
        #expect(try StandardValue(NSNumber(value: true)) == .bool(true))
        #expect(try StandardValue(NSNumber(value: 5.0)) == .double(5))
        #expect(try StandardValue([NSNumber(value: 0)]) == .list([.integer(0)]))
    }

    @Test("a call's result is the value, the error, or that nobody takes it")
    func invoke() {
        let channel = FlutterMethodChannel(name: "c", binaryMessenger: wire)
        var results: [Any?] = []
        for _ in 0..<3 { channel.invokeMethod("m", arguments: ["a": 1]) { results.append($0) } }
        channel.invokeMethod("m", arguments: nil)
        #expect(wire.sent.map(\.channel) == ["c", "c", "c", "c"])
        #expect(
            wire.sent[0].message
                == Data(StandardMethodCall("m", .map([StandardPair(.string("a"), .integer(1))])).message))
        #expect(wire.sent[3].reply == nil)
        wire.sent[0].reply?(Data(StandardMethodReply.success(.string("x")).message))
        wire.sent[1].reply?(
            Data(StandardMethodReply.failure(code: "E", message: nil, details: .null).message))
        wire.sent[2].reply?(nil)
        #expect(results[0] as? String == "x")
        #expect((results[1] as? FlutterError)?.code == "E")
        #expect((results[2] as? NSObject) === FlutterMethodNotImplemented)
    }

    @Test("calls in JSON have Flutter's form")
    func json() throws {
        let codec = FlutterJSONMethodCodec.sharedInstance()
        let call = codec.encode(FlutterMethodCall(methodName: "m", arguments: [1]))
        #expect(String(decoding: call, as: UTF8.self) == #"{"args":[1],"method":"m"}"#)
        #expect(codec.decodeMethodCall(call)?.method == "m")
        #expect(codec.decodeMethodCall(Data("[]".utf8)) == nil)
        #expect(codec.decodeEnvelope(Data(#"["x"]"#.utf8)) as? String == "x")
        #expect((codec.decodeEnvelope(Data(#"["E","m",null]"#.utf8)) as? FlutterError)?.message == "m")
        #expect((codec.decodeEnvelope(Data("7".utf8)) as? FlutterError)?.code == "error")
    }

    @Test("events go out while the other half listens")
    func events() throws {
        final class Source: NSObject, FlutterStreamHandler {
            var sink: FlutterEventSink?
            func onListen(withArguments arguments: Any?, eventSink events: @escaping FlutterEventSink) -> FlutterError?
            {
                sink = events
                return nil
            }
            func onCancel(withArguments arguments: Any?) -> FlutterError? { nil }
        }
        let channel = FlutterEventChannel(name: "e", binaryMessenger: wire)
        let source = Source()
        channel.setStreamHandler(source)
        #expect(wire.answer(to: StandardMethodCall("listen").message, on: "e") == [0, 0])
        source.sink?(7)
        source.sink?(FlutterEndOfEventStream)
        #expect(wire.answer(to: StandardMethodCall("cancel").message, on: "e") == [0, 0])
        source.sink?(8)
        #expect(wire.sent.map(\.message) == [Data(StandardMethodReply.success(.integer(7)).message), nil])
        #expect(wire.answer(to: StandardMethodCall("cancel").message, on: "e")?.first == 1)
        withExtendedLifetime(channel) {}
    }
}

@Suite struct ChannelConversationTests {
    @Test("messages wait for a host, the oldest gives way, and replies find theirs")
    func conversation() {
        var conversation = ChannelConversation<Int>()
        var givenUp: [Int] = []
        for number in 0..<66 {
            let (frame, old) = conversation.send([UInt8(number)], on: "c", reply: number)
            #expect(frame == nil)
            if let old { givenUp.append(old) }
        }
        #expect(givenUp == [0, 1])
        let frames = conversation.opened()
        #expect(frames.count == 64)
        #expect(frames.first == .message(number: 1, channel: "c", content: [2]))
        #expect(conversation.send([9], on: "d", reply: 99).frame == .message(number: 65, channel: "d", content: [9]))
        guard case .reply(3, [7])? = conversation.received(.reply(number: 2, content: [7])) else {
            Issue.record("the reply is not found")
            return
        }
        let again = conversation.received(.reply(number: 2, content: []))
        #expect(again == nil)
        let lost = conversation.closed()
        #expect(lost.count == 64 && lost.last == 99)
    }
}

@Suite struct LaunchTests {
    @Test(
        "the socket is the one that the environment names, else one by the app's id",
        arguments: [
            (["ALDABA_FLUTTER_SOCKET": "/x.sock", "XDG_RUNTIME_DIR": "/run"], "com.example.a", "/x.sock"),
            (["XDG_RUNTIME_DIR": "/run"], "com.example.a", "/run/aldaba/flutter/com.example.a.sock"),
            (["XDG_RUNTIME_DIR": "/run"], nil, "/run/aldaba/flutter/app.sock"), ([:], "com.example.a", nil),
        ] as [([String: String], String?, String?)])
    func socket(environment: [String: String], app: String?, path: String?) {
        #expect(ChannelSocket.standardPath(environment: environment, app: app) == path)
    }

    @Test("what hosts do is kept until the launch is over, and not when a delegate is made after it")
    @MainActor func launch() {
        let messenger = FlutterSocketMessenger(path: nil)
        #expect(!messenger.isHolding)
        messenger.holdUntilLaunched()
        messenger.holdUntilLaunched()
        #expect(messenger.isHolding)
        NotificationCenter.default.post(name: UIApplication.didFinishLaunchingNotification, object: nil)
        #expect(!messenger.isHolding)
        messenger.holdUntilLaunched()
        #expect(!messenger.isHolding)
    }
}
