import CDBus

/// One D-Bus message; owns one reference to it.
struct BusMessage: ~Copyable {
    let pointer: OpaquePointer

    /// Takes over a reference.
    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    /// A method call; `nil` when libdbus refuses a name or has no memory.
    init?(destination: String, path: String, interface: String, method: String) {
        guard let pointer = dbus_message_new_method_call(destination, path, interface, method) else { return nil }
        self.pointer = pointer
    }

    /// A signal; `nil` when libdbus refuses a name or has no memory.
    init?(path: String, interface: String, signal: String) {
        guard let pointer = dbus_message_new_signal(path, interface, signal) else { return nil }
        self.pointer = pointer
    }

    deinit { dbus_message_unref(pointer) }

    // MARK: Reading

    var type: Int32 { dbus_message_get_type(pointer) }
    /// The serial of the call that this answers; 0 for other messages.
    var answers: UInt32 { dbus_message_get_reply_serial(pointer) }
    var isError: Bool { type == DBUS_MESSAGE_TYPE_ERROR }
    var isReply: Bool { type == DBUS_MESSAGE_TYPE_METHOD_RETURN }
    var errorName: String { dbus_message_get_error_name(pointer).map { String(cString: $0) } ?? "unknown error" }

    /// The object that a signal is about.
    var path: String? { dbus_message_get_path(pointer).map { String(cString: $0) } }

    func isSignal(_ interface: String, _ member: String) -> Bool {
        dbus_message_is_signal(pointer, interface, member) != 0
    }

    /// The arguments, as far as they are of the kinds that this target reads; others are `.other`.
    var arguments: [BusValue] {
        var iterator = DBusMessageIter()
        guard dbus_message_iter_init(pointer, &iterator) != 0 else { return [] }
        return BusValue.readAll(&iterator)
    }

    // MARK: Writing

    /// A call that is an error where nobody owns the name, and does not make the bus start a program.
    func startsNobody() { dbus_message_set_auto_start(pointer, 0) }

    /// Appends arguments; `false` when libdbus has no memory for them.
    func append(_ values: [BusValue]) -> Bool {
        var iterator = DBusMessageIter()
        dbus_message_iter_init_append(pointer, &iterator)
        return values.allSatisfy { $0.append(to: &iterator) }
    }
}

/// A value of the D-Bus types that the interfaces of this target use. A variant is read as what it holds.
enum BusValue: Hashable, Sendable {
    case string(String)
    /// The path of an object.
    case path(String)
    case uint32(UInt32)
    case int32(Int32)
    case int64(Int64)
    case byte(UInt8)
    case boolean(Bool)
    case strings([String])
    /// `a{sv}`; the values are strings, numbers or booleans.
    case dictionary([String: BusValue])
    /// Only read.
    case structure([BusValue])
    case other

    static func readAll(_ iterator: inout DBusMessageIter) -> [BusValue] {
        var values: [BusValue] = []
        while dbus_message_iter_get_arg_type(&iterator) != 0 {
            values.append(read(&iterator))
            dbus_message_iter_next(&iterator)
        }
        return values
    }

    private static func read(_ iterator: inout DBusMessageIter) -> BusValue {
        switch dbus_message_iter_get_arg_type(&iterator) {
        case aldaba_dbus_string:
            var text: UnsafePointer<CChar>?
            dbus_message_iter_get_basic(&iterator, &text)
            return .string(text.map { String(cString: $0) } ?? "")
        case aldaba_dbus_path:
            var text: UnsafePointer<CChar>?
            dbus_message_iter_get_basic(&iterator, &text)
            return .path(text.map { String(cString: $0) } ?? "/")
        case aldaba_dbus_variant:
            var inner = DBusMessageIter()
            dbus_message_iter_recurse(&iterator, &inner)
            return read(&inner)
        case aldaba_dbus_structure:
            var inner = DBusMessageIter()
            dbus_message_iter_recurse(&iterator, &inner)
            return .structure(readAll(&inner))
        case aldaba_dbus_uint32:
            var number: UInt32 = 0
            dbus_message_iter_get_basic(&iterator, &number)
            return .uint32(number)
        case aldaba_dbus_boolean:
            var truth: dbus_bool_t = 0
            dbus_message_iter_get_basic(&iterator, &truth)
            return .boolean(truth != 0)
        case aldaba_dbus_array where dbus_message_iter_get_element_type(&iterator) == aldaba_dbus_string:
            var inner = DBusMessageIter()
            dbus_message_iter_recurse(&iterator, &inner)
            return .strings(
                readAll(&inner).compactMap { if case .string(let text) = $0 { text } else { nil } })
        default: return .other
        }
    }

    fileprivate func append(to iterator: inout DBusMessageIter) -> Bool {
        switch self {
        case .string(let text): return Self.append(text, to: &iterator)
        case .uint32(var number): return dbus_message_iter_append_basic(&iterator, aldaba_dbus_uint32, &number) != 0
        case .int32(var number): return dbus_message_iter_append_basic(&iterator, aldaba_dbus_int32, &number) != 0
        case .int64(var number): return dbus_message_iter_append_basic(&iterator, aldaba_dbus_int64, &number) != 0
        case .byte(var number): return dbus_message_iter_append_basic(&iterator, aldaba_dbus_byte, &number) != 0
        case .boolean(let truth):
            var number: dbus_bool_t = truth ? 1 : 0
            return dbus_message_iter_append_basic(&iterator, aldaba_dbus_boolean, &number) != 0
        case .strings(let texts):
            return Self.container(aldaba_dbus_array, "s", in: &iterator) { inner in
                texts.allSatisfy { Self.append($0, to: &inner) }
            }
        case .dictionary(let entries):
            return Self.container(aldaba_dbus_array, "{sv}", in: &iterator) { inner in
                entries.allSatisfy { key, value in
                    Self.container(aldaba_dbus_dictionary_entry, nil, in: &inner) { entry in
                        Self.append(key, to: &entry)
                            && Self.container(aldaba_dbus_variant, value.signature, in: &entry) {
                                value.append(to: &$0)
                            }
                    }
                }
            }
        case .path, .structure, .other: return false
        }
    }

    private var signature: String {
        switch self {
        case .string: "s"
        case .uint32: "u"
        case .int32: "i"
        case .int64: "x"
        case .byte: "y"
        case .boolean: "b"
        case .strings: "as"
        case .dictionary: "a{sv}"
        case .path: "o"
        case .structure, .other: ""
        }
    }

    private static func append(_ text: String, to iterator: inout DBusMessageIter) -> Bool {
        text.withCString { bytes in
            var pointer: UnsafePointer<CChar>? = bytes
            return dbus_message_iter_append_basic(&iterator, aldaba_dbus_string, &pointer) != 0
        }
    }

    private static func container(
        _ type: Int32, _ signature: String?, in iterator: inout DBusMessageIter,
        _ fill: (inout DBusMessageIter) -> Bool
    ) -> Bool {
        var inner = DBusMessageIter()
        guard dbus_message_iter_open_container(&iterator, type, signature, &inner) != 0 else { return false }
        guard fill(&inner) else {
            dbus_message_iter_abandon_container(&iterator, &inner)
            return false
        }
        return dbus_message_iter_close_container(&iterator, &inner) != 0
    }
}
