import CDBus

/// A value of those D-Bus types that our interfaces use. A variant is read as the value that it holds.
package indirect enum BusValue: Hashable, Sendable {
    /// Text, `s`.
    case string(String)
    /// The path of an object.
    case path(String)
    /// A whole number that is not negative, `q`.
    case uint16(UInt16)
    /// A whole number that is not negative, `u`.
    case uint32(UInt32)
    /// A whole number, `i`.
    case int32(Int32)
    /// A whole number, `x`.
    case int64(Int64)
    /// A byte, `y`.
    case byte(UInt8)
    /// Yes or no, `b`.
    case boolean(Bool)
    /// A list of texts, `as`.
    case strings([String])
    /// Bytes, `ay`.
    case bytes([UInt8])
    /// A list of byte strings, `aay`.
    case data([[UInt8]])
    /// A number with a fraction, `d`.
    case double(Double)
    /// Only written, where an interface wants a variant.
    case variant(BusValue)
    /// `a{sv}`.
    case dictionary([String: BusValue])
    /// Only read.
    case structure([BusValue])
    /// A type that none of our interfaces uses.
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
        case aldaba_dbus_uint16:
            var number: UInt16 = 0
            dbus_message_iter_get_basic(&iterator, &number)
            return .uint16(number)
        case aldaba_dbus_uint32:
            var number: UInt32 = 0
            dbus_message_iter_get_basic(&iterator, &number)
            return .uint32(number)
        case aldaba_dbus_int32:
            var number: Int32 = 0
            dbus_message_iter_get_basic(&iterator, &number)
            return .int32(number)
        case aldaba_dbus_int64:
            var number: Int64 = 0
            dbus_message_iter_get_basic(&iterator, &number)
            return .int64(number)
        case aldaba_dbus_uint64:
            // A value that is too large for `Int64` is clamped: our interfaces use none.
            var number: UInt64 = 0
            dbus_message_iter_get_basic(&iterator, &number)
            return .int64(Int64(clamping: number))
        case aldaba_dbus_byte:
            var number: UInt8 = 0
            dbus_message_iter_get_basic(&iterator, &number)
            return .byte(number)
        case aldaba_dbus_boolean:
            var truth: dbus_bool_t = 0
            dbus_message_iter_get_basic(&iterator, &truth)
            return .boolean(truth != 0)
        case aldaba_dbus_double:
            var number = 0.0
            dbus_message_iter_get_basic(&iterator, &number)
            return .double(number)
        case aldaba_dbus_array where dbus_message_iter_get_element_type(&iterator) == aldaba_dbus_dictionary_entry:
            var inner = DBusMessageIter()
            dbus_message_iter_recurse(&iterator, &inner)
            return dictionary(&inner)
        case aldaba_dbus_array where dbus_message_iter_get_element_type(&iterator) == aldaba_dbus_string:
            var inner = DBusMessageIter()
            dbus_message_iter_recurse(&iterator, &inner)
            return .strings(
                readAll(&inner).compactMap { if case .string(let text) = $0 { text } else { nil } })
        case aldaba_dbus_array where dbus_message_iter_get_element_type(&iterator) == aldaba_dbus_array:
            var inner = DBusMessageIter()
            dbus_message_iter_recurse(&iterator, &inner)
            return byteStrings(&inner)
        case aldaba_dbus_array where dbus_message_iter_get_element_type(&iterator) == aldaba_dbus_byte:
            return .bytes(bytes(&iterator))
        default: return .other
        }
    }

    private static func bytes(_ iterator: inout DBusMessageIter) -> [UInt8] {
        var inner = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &inner)
        // The bytes lie in the message, which outlives this call.
        var bytes: UnsafePointer<UInt8>?
        var count: Int32 = 0
        dbus_message_iter_get_fixed_array(&inner, &bytes, &count)
        return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    /// A list of byte strings; our interfaces use no list of other lists.
    private static func byteStrings(_ iterator: inout DBusMessageIter) -> BusValue {
        var strings: [[UInt8]] = []
        while dbus_message_iter_get_arg_type(&iterator) != 0 {
            guard dbus_message_iter_get_element_type(&iterator) == aldaba_dbus_byte else { return .other }
            strings.append(bytes(&iterator))
            dbus_message_iter_next(&iterator)
        }
        return .data(strings)
    }

    /// Entries of a dictionary, as far as their keys are strings.
    private static func dictionary(_ iterator: inout DBusMessageIter) -> BusValue {
        var entries: [String: BusValue] = [:]
        while dbus_message_iter_get_arg_type(&iterator) != 0 {
            var entry = DBusMessageIter()
            dbus_message_iter_recurse(&iterator, &entry)
            let pair = readAll(&entry)
            if case .string(let key)? = pair.first, let value = pair.last, pair.count == 2 { entries[key] = value }
            dbus_message_iter_next(&iterator)
        }
        return .dictionary(entries)
    }

    /// Text as D-Bus has it: without NUL, which its strings cannot hold.
    package static func plain(_ text: String) -> String {
        text.utf8.contains(0) ? text.filter { $0 != "\0" } : text
    }

    func append(to iterator: inout DBusMessageIter) -> Bool {
        switch self {
        case .string(let text): return Self.append(text, to: &iterator)
        case .uint16(var number): return dbus_message_iter_append_basic(&iterator, aldaba_dbus_uint16, &number) != 0
        case .uint32(var number): return dbus_message_iter_append_basic(&iterator, aldaba_dbus_uint32, &number) != 0
        case .int32(var number): return dbus_message_iter_append_basic(&iterator, aldaba_dbus_int32, &number) != 0
        case .int64(var number): return dbus_message_iter_append_basic(&iterator, aldaba_dbus_int64, &number) != 0
        case .byte(var number): return dbus_message_iter_append_basic(&iterator, aldaba_dbus_byte, &number) != 0
        case .double(var number): return dbus_message_iter_append_basic(&iterator, aldaba_dbus_double, &number) != 0
        case .variant(let value):
            return Self.container(aldaba_dbus_variant, signature: value.signature, in: &iterator) {
                value.append(to: &$0)
            }
        case .boolean(let truth):
            var number: dbus_bool_t = truth ? 1 : 0
            return dbus_message_iter_append_basic(&iterator, aldaba_dbus_boolean, &number) != 0
        case .strings(let texts):
            return Self.container(aldaba_dbus_array, signature: "s", in: &iterator) { inner in
                texts.allSatisfy { Self.append($0, to: &inner) }
            }
        case .bytes(let bytes):
            return Self.container(aldaba_dbus_array, signature: "y", in: &iterator) { inner in
                bytes.withUnsafeBufferPointer { buffer in
                    // libdbus reads no byte of an empty array, whose address may be absent.
                    guard !buffer.isEmpty else { return true }
                    var address = buffer.baseAddress
                    return dbus_message_iter_append_fixed_array(
                        &inner, aldaba_dbus_byte, &address, Int32(buffer.count)) != 0
                }
            }
        case .data(let strings):
            return Self.container(aldaba_dbus_array, signature: "ay", in: &iterator) { inner in
                strings.allSatisfy { BusValue.bytes($0).append(to: &inner) }
            }
        case .dictionary(let entries):
            return Self.container(aldaba_dbus_array, signature: "{sv}", in: &iterator) { inner in
                entries.allSatisfy { key, value in
                    Self.container(aldaba_dbus_dictionary_entry, signature: nil, in: &inner) { entry in
                        Self.append(key, to: &entry)
                            && Self.container(aldaba_dbus_variant, signature: value.signature, in: &entry) {
                                value.append(to: &$0)
                            }
                    }
                }
            }
        case .path(let text):
            // libdbus ends the process over an invalid path.
            guard dbus_validate_path(text, nil) != 0 else { return false }
            return text.withCString { bytes in
                var pointer: UnsafePointer<CChar>? = bytes
                return dbus_message_iter_append_basic(&iterator, aldaba_dbus_path, &pointer) != 0
            }
        case .structure, .other: return false
        }
    }

    private var signature: String {
        switch self {
        case .string: "s"
        case .uint16: "q"
        case .uint32: "u"
        case .int32: "i"
        case .int64: "x"
        case .byte: "y"
        case .boolean: "b"
        case .double: "d"
        case .variant: "v"
        case .strings: "as"
        case .bytes: "ay"
        case .data: "aay"
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
        _ type: Int32, signature: String?, in iterator: inout DBusMessageIter,
        fill: (inout DBusMessageIter) -> Bool
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
