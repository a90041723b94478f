import Foundation

/// A call of a method by its name.
public final class FlutterMethodCall: NSObject {
    /// The method's name.
    public let method: String
    /// The call's arguments; `nil` where there are none.
    public let arguments: Any?

    /// Makes a call.
    public init(methodName method: String, arguments: Any?) {
        self.method = method
        self.arguments = arguments
    }
}

/// The failure of a method: a code for programs, a sentence for people, and anything else that the codec takes.
public final class FlutterError: NSObject, Error, @unchecked Sendable {
    // Unchecked: all properties are set once, and `details` is a plain value that is never changed.
    /// The code.
    public let code: String
    /// The sentence.
    public let message: String?
    /// Anything else.
    public let details: Any?

    /// Makes an error.
    public init(code: String, message: String?, details: Any?) {
        self.code = code
        self.message = message
        self.details = details
    }

    /// Code and sentence, for logs.
    public override var description: String { "FlutterError(\(code), \(message ?? "no message"))" }
}

/// The result of a method that has no handler.
public let FlutterMethodNotImplemented = FlutterMarker("FlutterMethodNotImplemented")

/// The event that ends a stream of events.
public let FlutterEndOfEventStream = FlutterMarker("FlutterEndOfEventStream")

/// A value without content, compared by identity.
public final class FlutterMarker: NSObject, Sendable {
    private let name: String
    init(_ name: String) { self.name = name }
    /// The name of the object that this marker represents.
    public override var description: String { name }
}

/// Takes a method's result: a value, a ``FlutterError`` or ``FlutterMethodNotImplemented``.
public typealias FlutterResult = (Any?) -> Void

/// Takes a call, and must call the result once.
public typealias FlutterMethodCallHandler = (FlutterMethodCall, @escaping FlutterResult) -> Void
