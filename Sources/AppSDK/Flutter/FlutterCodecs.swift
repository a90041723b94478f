import Foundation

/// Converts messages to bytes and back.
public protocol FlutterMessageCodec: NSObjectProtocol {
    /// The codec that channels of its kind share.
    static func sharedInstance() -> Self
    /// The bytes of a message; `nil` for none.
    func encode(_ message: Any?) -> Data?
    /// The message of some bytes; `nil` for no bytes, and for bytes that are no message.
    func decode(_ message: Data?) -> Any?
}

/// Converts calls and their results to bytes and back.
public protocol FlutterMethodCodec: NSObjectProtocol {
    /// The codec that channels of its kind share.
    static func sharedInstance() -> Self
    /// The bytes of a call.
    func encode(_ methodCall: FlutterMethodCall) -> Data
    /// The call of some bytes; `nil` for what is no call.
    func decodeMethodCall(_ methodCall: Data) -> FlutterMethodCall?
    /// The bytes of a result.
    func encodeSuccessEnvelope(_ result: Any?) -> Data
    /// The bytes of an error.
    func encodeErrorEnvelope(_ error: FlutterError) -> Data
    /// The result or the ``FlutterError`` of some bytes.
    func decodeEnvelope(_ envelope: Data) -> Any?
}

/// Bytes as they are.
public final class FlutterBinaryCodec: NSObject, FlutterMessageCodec, Sendable {
    private static let shared = FlutterBinaryCodec()
    /// The codec that channels of its kind share.
    public static func sharedInstance() -> FlutterBinaryCodec { shared }
    /// `Data` as it is; nothing for anything else.
    public func encode(_ message: Any?) -> Data? { message as? Data }
    /// The bytes as they are.
    public func decode(_ message: Data?) -> Any? { message }
}

/// Texts in UTF-8.
public final class FlutterStringCodec: NSObject, FlutterMessageCodec, Sendable {
    private static let shared = FlutterStringCodec()
    /// The codec that channels of its kind share.
    public static func sharedInstance() -> FlutterStringCodec { shared }
    /// A text's bytes; nothing for anything else.
    public func encode(_ message: Any?) -> Data? { (message as? String).map { Data($0.utf8) } }
    /// The text; `nil` where the bytes are not UTF-8.
    public func decode(_ message: Data?) -> Any? { message.flatMap { String(validating: $0, as: UTF8.self) } }
}

/// JSON (RFC 8259).
public final class FlutterJSONMessageCodec: NSObject, FlutterMessageCodec, Sendable {
    private static let shared = FlutterJSONMessageCodec()
    /// The codec that channels of its kind share.
    public static func sharedInstance() -> FlutterJSONMessageCodec { shared }

    /// JSON of what `JSONSerialization` takes; nothing for anything else.
    public func encode(_ message: Any?) -> Data? {
        guard let message, JSONSerialization.isValidJSONObject([message]) else { return nil }
        return try? JSONSerialization.data(withJSONObject: message, options: [.fragmentsAllowed, .sortedKeys])
    }

    /// The value of a JSON text; `nil` for text that is not JSON.
    public func decode(_ message: Data?) -> Any? {
        message.flatMap { try? JSONSerialization.jsonObject(with: $0, options: .fragmentsAllowed) }
    }
}

/// Flutter's own binary form.
public final class FlutterStandardMessageCodec: NSObject, FlutterMessageCodec, Sendable {
    private static let shared = FlutterStandardMessageCodec()
    /// The codec that channels of its kind share.
    public static func sharedInstance() -> FlutterStandardMessageCodec { shared }

    /// The value's bytes. A value that the codec does not know is left out, and reported on standard error.
    public func encode(_ message: Any?) -> Data? {
        guard let message else { return nil }
        var writer = StandardWriter()
        do throws(UnsupportedValue) { writer.write(try StandardValue(message)) } catch {
            ChannelSocket.report("\(error)")
            return nil
        }
        return Data(writer.bytes)
    }

    /// The value of some bytes; `nil` for bytes that are no value, with the reason on standard error.
    public func decode(_ message: Data?) -> Any? {
        do throws(StandardCodecError) {
            return try message.map { message throws(StandardCodecError) in
                try StandardReader.value(of: [UInt8](message))
            }?.any
        } catch {
            ChannelSocket.report("\(error)")
            return nil
        }
    }
}

/// Calls in Flutter's own binary form.
public final class FlutterStandardMethodCodec: NSObject, FlutterMethodCodec, Sendable {
    private static let shared = FlutterStandardMethodCodec()
    /// The codec that channels of its kind share.
    public static func sharedInstance() -> FlutterStandardMethodCodec { shared }

    /// The call's bytes. Arguments that the codec does not know are left out, and reported on standard error.
    public func encode(_ methodCall: FlutterMethodCall) -> Data {
        var arguments = StandardValue.null
        do throws(UnsupportedValue) { arguments = try StandardValue(methodCall.arguments) } catch {
            ChannelSocket.report("\(methodCall.method): \(error)")
        }
        return Data(StandardMethodCall(methodCall.method, arguments).message)
    }

    /// The call of some bytes; `nil` for bytes that are no call, with the reason on standard error.
    public func decodeMethodCall(_ methodCall: Data) -> FlutterMethodCall? {
        do throws(StandardCodecError) {
            let call = try StandardMethodCall(message: [UInt8](methodCall))
            return FlutterMethodCall(methodName: call.method, arguments: call.arguments.any)
        } catch {
            ChannelSocket.report("\(error)")
            return nil
        }
    }

    /// The result's bytes. A value that the codec does not know becomes an error.
    public func encodeSuccessEnvelope(_ result: Any?) -> Data {
        do throws(UnsupportedValue) {
            return Data(StandardMethodReply.success(try StandardValue(result)).message)
        } catch {
            return encodeErrorEnvelope(FlutterError(code: "error", message: "\(error)", details: nil))
        }
    }

    /// The error's bytes. Details that the codec does not know become their description.
    public func encodeErrorEnvelope(_ error: FlutterError) -> Data {
        let details: StandardValue
        do throws(UnsupportedValue) { details = try StandardValue(error.details) } catch {
            details = .string(error.description)
        }
        return Data(StandardMethodReply.failure(code: error.code, message: error.message, details: details).message)
    }

    /// The result of a reply; a ``FlutterError`` where the method failed, or where the bytes are no reply;
    /// ``FlutterMethodNotImplemented`` for no bytes.
    public func decodeEnvelope(_ envelope: Data) -> Any? {
        do throws(StandardCodecError) {
            switch try StandardMethodReply(message: [UInt8](envelope)) {
            case .success(let value): return value.any
            case .failure(let code, let message, let details):
                return FlutterError(code: code, message: message, details: details.any)
            case .notImplemented: return FlutterMethodNotImplemented
            }
        } catch {
            return FlutterError(code: "error", message: "\(error)", details: nil)
        }
    }
}

/// Calls as JSON: `{"method": …, "args": …}`, answered by `[result]` or `[code, message, details]`.
public final class FlutterJSONMethodCodec: NSObject, FlutterMethodCodec, Sendable {
    private static let shared = FlutterJSONMethodCodec()
    private var json: FlutterJSONMessageCodec { .sharedInstance() }
    /// The codec that channels of its kind share.
    public static func sharedInstance() -> FlutterJSONMethodCodec { shared }

    /// Encodes a method call as JSON.
    public func encode(_ methodCall: FlutterMethodCall) -> Data {
        json.encode(["method": methodCall.method, "args": methodCall.arguments ?? NSNull()] as [String: Any]) ?? Data()
    }

    /// The call of some bytes; `nil` for bytes that are no call.
    public func decodeMethodCall(_ methodCall: Data) -> FlutterMethodCall? {
        guard let members = json.decode(methodCall) as? [String: Any], let method = members["method"] as? String else {
            return nil
        }
        return FlutterMethodCall(methodName: method, arguments: Self.value(members["args"]))
    }

    /// The result's JSON.
    public func encodeSuccessEnvelope(_ result: Any?) -> Data {
        json.encode([result ?? NSNull()]) ?? Data("[null]".utf8)
    }

    /// The error's JSON.
    public func encodeErrorEnvelope(_ error: FlutterError) -> Data {
        let members: [Any] = [error.code, error.message ?? NSNull(), error.details ?? NSNull()]
        return json.encode(members) ?? Data("[\"error\",null,null]".utf8)
    }

    /// The result, or a ``FlutterError``.
    public func decodeEnvelope(_ envelope: Data) -> Any? {
        let members = json.decode(envelope) as? [Any]
        if let members, members.count == 1 { return Self.value(members[0]) }
        if let members, members.count == 3, let code = members[0] as? String {
            return FlutterError(code: code, message: members[1] as? String, details: Self.value(members[2]))
        }
        return FlutterError(code: "error", message: "the reply is neither a result nor an error", details: nil)
    }

    private static func value(_ value: Any?) -> Any? { value is NSNull ? nil : value }
}
