/// Whether the screen is locked: it is as long as anybody says so.
struct LockState {
    /// Who may say so.
    enum Source: Hashable {
        case saver(ScreenSaver)
        /// The login manager, of this session.
        case login
    }

    private var sayingSo: Set<Source> = []

    var isLocked: Bool { !sayingSo.isEmpty }

    mutating func heard(_ isLocked: Bool, from source: Source) {
        if isLocked { sayingSo.insert(source) } else { sayingSo.remove(source) }
    }

    /// The session bus is gone: no screen saver could say any more that the screen was unlocked.
    mutating func lostSavers() { sayingSo.formIntersection([.login]) }
}

/// The screen savers that say on the session bus whether they are active, each under its own name.
enum ScreenSaver: String, CaseIterable {
    case freedesktop, gnome, mate, cinnamon, xfce

    /// Of the bus name and of the interface.
    var name: String { "org.\(rawValue).ScreenSaver" }
    var path: String { "/org/\(rawValue)/ScreenSaver" }

    /// What the bus is asked to tell about it.
    var rules: [String] {
        [
            "type='signal',sender='\(name)',interface='\(name)',member='ActiveChanged'",
            "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(name)'",
        ]
    }
}
