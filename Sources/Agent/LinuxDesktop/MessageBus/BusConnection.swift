import CDBus
import Glibc
import Platform

/// A private connection to a message bus; used by one thread only.
package final class BusConnection {
    private let pointer: OpaquePointer
    /// The cell in which libdbus notes whether it has something to write: a queued message, or its part of the
    /// handshake.
    private let writing: UnsafeMutablePointer<OpaquePointer?>

    /// Connects, and sends `Hello` to the bus, which answers it before any other call.
    ///
    /// - Parameter timeout: How long to wait for the answer; `nil` does not wait.
    package init(address: String, timeout: Duration? = nil) throws(BusError) {
        var error = aldaba_dbus_error()
        defer { dbus_error_free(&error) }
        guard let opened = dbus_connection_open_private(address, &error) else {
            throw BusError(description: Self.words(error))
        }
        // All members are set, so `deinit` closes it whatever fails from here on.
        pointer = opened
        writing = .allocate(capacity: 1)
        writing.initialize(to: nil)
        dbus_connection_set_exit_on_disconnect(opened, 0)
        guard aldaba_dbus_watch_writing(opened, writing) != 0 else {
            throw BusError(description: "there is no memory for it")
        }
        let bus = "org.freedesktop.DBus"
        guard let hello = BusMessage(destination: bus, path: "/org/freedesktop/DBus", interface: bus, method: "Hello")
        else { throw BusError(description: "the hello could not be written") }
        if let timeout {
            let milliseconds = Int32(clamping: timeout.milliseconds)
            guard
                let answer = dbus_connection_send_with_reply_and_block(opened, hello.pointer, milliseconds, &error)
            else { throw BusError(description: Self.words(error)) }
            dbus_message_unref(answer)
        } else {
            guard send(hello) != nil else { throw BusError(description: "the hello could not be written") }
            transfer()
        }
    }

    deinit {
        dbus_connection_close(pointer)
        dbus_connection_unref(pointer)
        writing.deallocate()
    }

    /// Whether the bus is still there; what it sent before its end can be read all the same.
    package var isConnected: Bool { dbus_connection_get_is_connected(pointer) != 0 }
    /// Whether to poll for writing.
    package var hasMessagesToSend: Bool { writing.pointee.map { dbus_watch_get_enabled($0) != 0 } ?? false }

    /// The descriptor to poll; -1 when the connection has none.
    package var descriptor: Int32 {
        var descriptor: Int32 = -1
        return dbus_connection_get_unix_fd(pointer, &descriptor) != 0 ? descriptor : -1
    }

    /// Asks the bus for signals. The bus's answer is not waited for.
    package func subscribe(_ rule: String) { dbus_bus_add_match(pointer, rule, nil) }

    /// Ends a subscription to signals.
    package func unsubscribe(_ rule: String) { dbus_bus_remove_match(pointer, rule, nil) }

    /// Queues a message.
    ///
    /// - Returns: The message's serial; `nil` when libdbus has no memory.
    package func send(_ message: borrowing BusMessage) -> UInt32? {
        var serial: UInt32 = 0
        return dbus_connection_send(pointer, message.pointer, &serial) != 0 ? serial : nil
    }

    /// Reads and writes what is possible without waiting.
    package func transfer() { dbus_connection_read_write(pointer, 0) }

    /// The next message that came.
    package func next() -> BusMessage? {
        dbus_connection_pop_message(pointer).map { BusMessage(owning: $0) }
    }

    private static func words(_ error: DBusError) -> String {
        error.message.map { String(cString: $0) } ?? "no reason given"
    }
}
