import AgentEngine
import CXCB
import Glibc
import Platform

/// Reads the active window when it changes, and reports its process; used on its thread only.
final class FocusWatch {
    private let display: String
    private let end: WakeUp
    private let tell: @Sendable (FocusEvent) -> Void
    private var last: FocusEvent?
    /// The active window; 0 for none.
    private var window: xcb_window_t = 0

    init(display: String, end: WakeUp, tell: @escaping @Sendable (FocusEvent) -> Void) {
        self.display = display
        self.end = end
        self.tell = tell
    }

    /// Runs until it is stopped, or until the screen is gone.
    func run() {
        do {
            let screen = try XScreen(display: display)
            guard let names = Names(screen) else { throw ScreenError(description: "the X server answers nothing") }
            // First the events are requested, then the state is read: nothing is missed between the two.
            screen.watch(screen.root, for: .properties)
            readFocus(screen, names)
            while screen.isConnected, !end.isSignalled {
                waitForEvents(on: screen)
                if hasChanged(screen, names) { readFocus(screen, names) }
            }
            if !end.isSignalled { throw ScreenError(description: "the X server at \(display) is gone") }
        } catch {
            tell(.ended(reason: "\(error)"))
        }
    }

    /// Waits for the screen or for the end.
    private func waitForEvents(on screen: XScreen) {
        var descriptors = [screen.descriptor, end.descriptor].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        Pause.poll(&descriptors, until: nil)
    }

    /// Reports the focus; repeats while events arrive.
    private func readFocus(_ screen: XScreen, _ names: Names) {
        repeat {
            let active = screen.values([names.activeWindow], of: screen.root)[0].flatMap(WindowProperties.number) ?? 0
            // The root belongs to no program, and is watched for its properties.
            follow(active == screen.root ? 0 : active, screen)
            // Not every window manager reports that no window is active any more when the last one has gone.
            var process: Int32?
            if window != 0, screen.isMapped(window) {
                let values = screen.values([names.process, names.machine], of: window)
                process = WindowProperties.process(values[0], machine: values[1], host: WindowProperties.host)
            }
            guard screen.isConnected else { return }
            let event = FocusEvent.focused(process: process)
            if event != last { tell(event) }
            last = event
        } while hasChanged(screen, names)
    }

    /// Watches the active window before it is read. Its number may be that of an earlier window, which is gone.
    private func follow(_ new: xcb_window_t, _ screen: XScreen) {
        if window != new, window != 0 { screen.watch(window, for: .nothing) }
        window = new
        if window != 0 { screen.watch(window, for: .presence) }
    }

    /// Whether another window may be active than when this was last asked; takes all that has come.
    private func hasChanged(_ screen: XScreen, _ names: Names) -> Bool {
        var isChanged = false
        while let change = screen.nextChange() {
            switch change {
            case .property(let property, let window):
                if window == screen.root, property == names.activeWindow { isChanged = true }
            case .presence(let window):
                if window == self.window { isChanged = true }
            }
        }
        return isChanged
    }

    /// The numbers of the properties that are read.
    private struct Names {
        let activeWindow: xcb_atom_t
        let process: xcb_atom_t
        let machine: xcb_atom_t

        init?(_ screen: XScreen) {
            guard let activeWindow = screen.atom("_NET_ACTIVE_WINDOW"), let process = screen.atom("_NET_WM_PID"),
                let machine = screen.atom("WM_CLIENT_MACHINE")
            else { return nil }
            (self.activeWindow, self.process, self.machine) = (activeWindow, process, machine)
        }
    }
}
