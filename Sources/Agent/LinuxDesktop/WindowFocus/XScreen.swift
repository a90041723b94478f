import CXCB
import Glibc

/// The reason why a screen cannot be used, for people.
struct ScreenError: Error, Sendable, CustomStringConvertible {
    var description: String
}

/// A connection to an X server, for reading properties of windows; used by one thread only.
final class XScreen {
    /// The longest value that is read, in units of 32 bits: a name of a machine fits.
    private static let longestValue: UInt32 = 64

    private let connection: OpaquePointer
    let root: xcb_window_t

    /// - Parameter display: Such as `:0`.
    init(display: String) throws(ScreenError) {
        var number: Int32 = 0
        guard let connection = xcb_connect(display, &number) else {
            throw ScreenError(description: "no memory for a connection")
        }
        self.connection = connection
        let fault = xcb_connection_has_error(connection)
        guard fault == 0 else {
            root = 0
            throw ScreenError(description: "the X server at \(display) cannot be reached (\(fault))")
        }
        var screens = xcb_setup_roots_iterator(xcb_get_setup(connection))
        for _ in 0..<max(0, number) where screens.rem > 1 { xcb_screen_next(&screens) }
        root = screens.data?.pointee.root ?? 0
    }

    deinit { xcb_disconnect(connection) }

    var isConnected: Bool { xcb_connection_has_error(connection) == 0 }
    var descriptor: Int32 { xcb_get_file_descriptor(connection) }

    /// The atom of a name; `nil` when the server is gone.
    func atom(_ name: String) -> xcb_atom_t? {
        let cookie = xcb_intern_atom(connection, 0, UInt16(clamping: name.utf8.count), name)
        guard let reply = xcb_intern_atom_reply(connection, cookie, nil) else { return nil }
        defer { free(reply) }
        return reply.pointee.atom
    }

    /// The kind of changes for which a window is watched.
    enum Interest {
        case nothing
        case properties
        /// The window is shown, hidden or destroyed.
        case presence

        fileprivate var mask: UInt32 {
            switch self {
            case .nothing: XCB_EVENT_MASK_NO_EVENT.rawValue
            case .properties: XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue
            case .presence: XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue
            }
        }
    }

    /// Requests the events of a window; a window that is gone is ignored.
    func watch(_ window: xcb_window_t, for interest: Interest) {
        var mask = interest.mask
        xcb_change_window_attributes(connection, window, XCB_CW_EVENT_MASK.rawValue, &mask)
        xcb_flush(connection)
    }

    /// Whether a window exists and is not hidden.
    func isMapped(_ window: xcb_window_t) -> Bool {
        var error: UnsafeMutablePointer<xcb_generic_error_t>?
        let cookie = xcb_get_window_attributes(connection, window)
        let reply = xcb_get_window_attributes_reply(connection, cookie, &error)
        defer {
            free(error)
            free(reply)
        }
        return reply.map { UInt32($0.pointee.map_state) != XCB_MAP_STATE_UNMAPPED.rawValue } ?? false
    }

    /// The values of several properties of one window, asked for together, each `nil` where the window or the property
    /// does not exist.
    func values(_ properties: [xcb_atom_t], of window: xcb_window_t) -> [[UInt8]?] {
        let cookies = properties.map {
            xcb_get_property(connection, 0, window, $0, XCB_ATOM_NONE.rawValue, 0, Self.longestValue)
        }
        return cookies.map { cookie in
            var error: UnsafeMutablePointer<xcb_generic_error_t>?
            let reply = xcb_get_property_reply(connection, cookie, &error)
            defer {
                free(error)
                free(reply)
            }
            guard let reply, reply.pointee.type != XCB_ATOM_NONE.rawValue else { return nil }
            let count = xcb_get_property_value_length(reply)
            guard count > 0, let bytes = xcb_get_property_value(reply) else { return [] }
            return [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(count)))
        }
    }

    /// A change of a window.
    enum Change {
        case property(xcb_atom_t, of: xcb_window_t)
        case presence(of: xcb_window_t)
    }

    /// The next change; `nil` when nothing more has come. Never waits.
    func nextChange() -> Change? {
        while let event = xcb_poll_for_event(connection) {
            defer { free(event) }
            // An event has 32 bytes, whatever its type.
            let bytes = UnsafeRawPointer(event)
            switch Int32(event.pointee.response_type & 0x7f) {
            case XCB_PROPERTY_NOTIFY:
                let change = bytes.loadUnaligned(as: xcb_property_notify_event_t.self)
                return .property(change.atom, of: change.window)
            case XCB_DESTROY_NOTIFY:
                return .presence(of: bytes.loadUnaligned(as: xcb_destroy_notify_event_t.self).window)
            case XCB_UNMAP_NOTIFY:
                return .presence(of: bytes.loadUnaligned(as: xcb_unmap_notify_event_t.self).window)
            case XCB_MAP_NOTIFY:
                return .presence(of: bytes.loadUnaligned(as: xcb_map_notify_event_t.self).window)
            default: continue
            }
        }
        return nil
    }
}
