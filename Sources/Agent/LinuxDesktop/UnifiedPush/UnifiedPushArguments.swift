import AgentEngine
import PushCore

/// The names and arguments of UnifiedPush's D-Bus interfaces (D-Bus specification 0.3.0, and 0.2.0 for version 1).
enum UnifiedPushArguments {
    static let distributor = "org.unifiedpush.Distributor.aldaba"
    static let distributorPath = "/org/unifiedpush/Distributor"
    static let connectorPath = "/org/unifiedpush/Connector"

    static func distributorInterface(_ version: UnifiedPushVersion) -> String {
        "org.unifiedpush.Distributor\(version.rawValue)"
    }

    static func connectorInterface(_ version: UnifiedPushVersion) -> String {
        "org.unifiedpush.Connector\(version.rawValue)"
    }

    /// Reads the arguments of `Register`: a dictionary, or the bus name, the token and, in later clients of version 1, the
    /// description.
    static func register(
        _ arguments: [BusValue], _ version: UnifiedPushVersion
    ) throws(UnifiedPushRegister.Fault) -> UnifiedPushRegister {
        if case .dictionary(let entries)? = arguments.first, version == .two {
            for name in ["description", "vapid"] where entries[name] != nil && entries[name]?.text == nil {
                throw UnifiedPushRegister.Fault(text: "\(name) must be a text")
            }
        }
        let texts = texts(arguments, version, names: ["service", "token", "description"])
        return try UnifiedPushRegister(
            service: texts["service"], token: texts["token"], description: texts["description"], vapid: texts["vapid"],
            version: version)
    }

    /// Reads the token of `Unregister`; `nil` where there is none.
    static func unregister(_ arguments: [BusValue], _ version: UnifiedPushVersion) -> String? {
        texts(arguments, version, names: ["token"])["token"]
    }

    private static func texts(
        _ arguments: [BusValue], _ version: UnifiedPushVersion, names: [String]
    ) -> [String: String] {
        switch version {
        case .one:
            let pairs = zip(names, arguments).compactMap { name, value in value.text.map { (name, $0) } }
            return Dictionary(uniqueKeysWithValues: pairs)
        case .two:
            guard case .dictionary(let entries)? = arguments.first else { return [:] }
            return entries.compactMapValues(\.text)
        }
    }

    /// The result of `Register`.
    static func answer(_ failure: UnifiedPushFailure?, _ version: UnifiedPushVersion) -> [BusValue] {
        let result = failure == nil ? "REGISTRATION_SUCCEEDED" : "REGISTRATION_FAILED"
        switch version {
        case .one: return [.string(result), .string(failure?.rawValue ?? "")]
        case .two:
            var entries: [String: BusValue] = ["success": .string(result)]
            entries["reason"] = failure.map { .string($0.rawValue) }
            return [.dictionary(entries)]
        }
    }

    /// The arguments of `NewEndpoint`.
    static func endpoint(of registration: UnifiedPushRegistration) -> [BusValue] {
        let endpoint = BusValue.string(registration.endpoint ?? "")
        return switch registration.version {
        case .one: [.string(registration.token), endpoint]
        case .two: [.dictionary(["token": .string(registration.token), "endpoint": endpoint])]
        }
    }

    /// The arguments of `Unregistered`. In version 1 a confirmation has an empty token.
    static func unregistered(_ registration: UnifiedPushRegistration, isConfirmation: Bool) -> [BusValue] {
        switch registration.version {
        case .one: [.string(isConfirmation ? "" : registration.token)]
        case .two: [.dictionary(["token": .string(registration.token)])]
        }
    }

    /// The arguments of `Message`.
    static func message(_ message: UnifiedPushMessage, _ version: UnifiedPushVersion) -> [BusValue] {
        let (token, id) = (BusValue.string(message.token), BusValue.string("\(message.id)"))
        return switch version {
        case .one: [token, .bytes(message.body), id]
        case .two: [.dictionary(["token": token, "message": .bytes(message.body), "id": id])]
        }
    }

    /// The description of the distributor's object, as `org.freedesktop.DBus.Introspectable` returns it.
    static let introspection = """
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
        <node>
          <interface name="org.unifiedpush.Distributor1">
            <method name="Register">
              <arg name="serviceName" type="s" direction="in"/>
              <arg name="token" type="s" direction="in"/>
              <arg name="description" type="s" direction="in"/>
              <arg name="registrationResult" type="s" direction="out"/>
              <arg name="registrationResultReason" type="s" direction="out"/>
            </method>
            <method name="Unregister">
              <arg name="token" type="s" direction="in"/>
              <annotation name="org.freedesktop.DBus.Method.NoReply" value="true"/>
            </method>
          </interface>
          <interface name="org.unifiedpush.Distributor2">
            <method name="Register">
              <arg name="args" type="a{sv}" direction="in"/>
              <arg name="result" type="a{sv}" direction="out"/>
            </method>
            <method name="Unregister">
              <arg name="args" type="a{sv}" direction="in"/>
              <arg name="result" type="a{sv}" direction="out"/>
            </method>
          </interface>
          <interface name="org.freedesktop.DBus.Introspectable">
            <method name="Introspect"><arg name="data" type="s" direction="out"/></method>
          </interface>
        </node>

        """
}

extension BusValue {
    /// The text of a string.
    fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
}
