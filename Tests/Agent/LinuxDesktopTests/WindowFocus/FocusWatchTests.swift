import AgentEngine
import AldabaTestSupport
import CXCB
import Foundation
import Testing

@testable import LinuxDesktop

/// A virtual screen of the test's own, without a window manager: the test says itself which window is active.
@Suite(.enabled(if: VirtualScreen.isPossible), .timeLimit(.minutes(5)))
struct FocusWatchTests {
    @Test func `after the root window was called active the next one is seen all the same`() async throws {
        let screen = try VirtualScreen()
        let window = try screen.openWindow(process: 4711)
        let focus = try #require(X11WindowFocusSource(environment: ["DISPLAY": screen.display]))
        let (events, continuation) = AsyncStream.makeStream(of: FocusEvent.self)
        focus.start { continuation.yield($0) }
        var focused = events.makeAsyncIterator()
        #expect(await focused.next() == .focused(process: nil))
        screen.activate(window)
        #expect(await focused.next() == .focused(process: 4711))
        screen.activate(screen.root)
        #expect(await focused.next() == .focused(process: nil))
        screen.activate(window)
        #expect(await focused.next() == .focused(process: 4711))
        focus.stop()
    }
}

/// Xvfb, and a program on it that says what a window manager would.
private final class VirtualScreen {
    static let isPossible = FileManager.default.isExecutableFile(atPath: "/usr/bin/Xvfb")

    let display: String
    let root: xcb_window_t
    private let server: ForeignProgram
    private let connection: OpaquePointer

    init() throws {
        server = try ForeignProgram(
            "/usr/bin/Xvfb", ["-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp"])
        display = ":" + (try server.readLine())
        connection = try #require(xcb_connect(display, nil))
        root = xcb_setup_roots_iterator(xcb_get_setup(connection)).data.pointee.root
    }

    deinit {
        xcb_disconnect(connection)
        server.end()
    }

    /// Opens a window that says that it is this process's.
    func openWindow(process: UInt32) throws -> xcb_window_t {
        let window = xcb_generate_id(connection)
        let inputOutput = UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue)
        xcb_create_window(connection, 0, window, root, 0, 0, 100, 100, 0, inputOutput, 0, 0, nil)
        try set("_NET_WM_PID", XCB_ATOM_CARDINAL, [process], of: window)
        let host = Array(WindowProperties.host.utf8)
        xcb_change_property(
            connection, UInt8(XCB_PROP_MODE_REPLACE.rawValue), window, try atom("WM_CLIENT_MACHINE"),
            XCB_ATOM_STRING.rawValue, 8, UInt32(host.count), host)
        xcb_map_window(connection, window)
        xcb_flush(connection)
        return window
    }

    func activate(_ window: xcb_window_t) {
        try? set("_NET_ACTIVE_WINDOW", XCB_ATOM_WINDOW, [window], of: root)
    }

    private func set(_ name: String, _ type: xcb_atom_enum_t, _ value: [UInt32], of window: xcb_window_t) throws {
        xcb_change_property(
            connection, UInt8(XCB_PROP_MODE_REPLACE.rawValue), window, try atom(name), type.rawValue, 32,
            UInt32(value.count), value)
        xcb_flush(connection)
    }

    private func atom(_ name: String) throws -> xcb_atom_t {
        let answer = xcb_intern_atom_reply(
            connection, xcb_intern_atom(connection, 0, UInt16(clamping: name.utf8.count), name), nil)
        defer { free(answer) }
        return try #require(answer?.pointee.atom)
    }
}
