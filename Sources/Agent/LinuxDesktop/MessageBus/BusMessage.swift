import CDBus

/// A D-Bus message; owns one reference to it.
package struct BusMessage: ~Copyable {
    let pointer: OpaquePointer

    /// Takes over a reference.
    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    /// A method call; `nil` when libdbus refuses a name or has no memory.
    package init?(destination: String, path: String, interface: String, method: String) {
        guard let pointer = dbus_message_new_method_call(destination, path, interface, method) else { return nil }
        self.pointer = pointer
    }

    /// A signal; `nil` when libdbus refuses a name or has no memory.
    package init?(path: String, interface: String, signal: String) {
        guard let pointer = dbus_message_new_signal(path, interface, signal) else { return nil }
        self.pointer = pointer
    }

    /// The reply to a call; `nil` when libdbus has no memory.
    package init?(replyTo call: borrowing BusMessage) {
        guard let pointer = dbus_message_new_method_return(call.pointer) else { return nil }
        self.pointer = pointer
    }

    /// An error in reply to a call; `nil` when libdbus refuses the name or has no memory.
    package init?(errorTo call: borrowing BusMessage, name: String, text: String) {
        guard let pointer = dbus_message_new_error(call.pointer, name, BusValue.plain(text)) else { return nil }
        self.pointer = pointer
    }

    deinit { dbus_message_unref(pointer) }

    // MARK: Reading

    private var type: Int32 { dbus_message_get_type(pointer) }
    /// The serial of the call that this answers; 0 for other messages.
    package var answers: UInt32 { dbus_message_get_reply_serial(pointer) }
    /// Whether a call was refused.
    package var isError: Bool { type == DBUS_MESSAGE_TYPE_ERROR }
    /// Whether a call was answered.
    package var isReply: Bool { type == DBUS_MESSAGE_TYPE_METHOD_RETURN }
    /// The name of the refusal, such as `org.freedesktop.DBus.Error.ServiceUnknown`.
    package var errorName: String {
        dbus_message_get_error_name(pointer).map { String(cString: $0) } ?? "unknown error"
    }

    /// Whether it is a call.
    package var isCall: Bool { type == DBUS_MESSAGE_TYPE_METHOD_CALL }
    /// Whether the caller of a call waits for a reply.
    package var wantsReply: Bool { isCall && dbus_message_get_no_reply(pointer) == 0 }
    /// The interface that a call or a signal names.
    package var interface: String? { dbus_message_get_interface(pointer).map { String(cString: $0) } }
    /// The name of the method or the signal.
    package var member: String? { dbus_message_get_member(pointer).map { String(cString: $0) } }

    /// The sender, by the unique name that the bus vouches for.
    package var sender: String? { dbus_message_get_sender(pointer).map { String(cString: $0) } }
    /// The object that a signal is about.
    package var path: String? { dbus_message_get_path(pointer).map { String(cString: $0) } }

    /// Whether it is a signal of this interface and name; who sent it is another question.
    package func isSignal(_ interface: String, _ member: String) -> Bool {
        dbus_message_is_signal(pointer, interface, member) != 0
    }

    /// The arguments, as far as they are of the kinds that `BusValue` has; others are `.other`.
    package var arguments: [BusValue] {
        var iterator = DBusMessageIter()
        guard dbus_message_iter_init(pointer, &iterator) != 0 else { return [] }
        return BusValue.readAll(&iterator)
    }

    // MARK: Writing

    /// Makes the call fail where the name has no owner; otherwise the bus would start a program.
    package func disableAutoStart() { dbus_message_set_auto_start(pointer, 0) }

    /// Has the receiver of a call send no reply.
    package func wantNoReply() { dbus_message_set_no_reply(pointer, 1) }

    /// Appends arguments; `false` when libdbus has no memory for them.
    package func append(_ values: [BusValue]) -> Bool {
        var iterator = DBusMessageIter()
        dbus_message_iter_init_append(pointer, &iterator)
        return values.allSatisfy { $0.append(to: &iterator) }
    }
}
