/// Whether the screen is locked: it is as long as anybody says so.
struct LockState {
    /// Who may say so.
    enum Source: Hashable {
        case saver(ScreenSaver)
        /// The login manager, of the user session.
        case login
    }

    private var sayingSo: Set<Source> = []
    /// Those that said so in an earlier process, and have not spoken since another took its place.
    private var inherited: Set<Source> = []

    var isLocked: Bool { !sayingSo.isEmpty }

    mutating func heard(_ isLocked: Bool, from source: Source) {
        inherited.remove(source)
        if isLocked { sayingSo.insert(source) } else { sayingSo.remove(source) }
    }

    /// Another process took a screen saver's name; what the one before said stays until this one has been asked.
    mutating func changedHands(_ saver: ScreenSaver) {
        if sayingSo.contains(.saver(saver)) { inherited.insert(.saver(saver)) }
    }

    /// A screen saver was asked and did not answer: only what it said itself stays.
    mutating func wasSilent(_ saver: ScreenSaver) {
        if inherited.remove(.saver(saver)) != nil { sayingSo.remove(.saver(saver)) }
    }

    /// The session bus is gone: no screen saver could say any more that the screen was unlocked.
    mutating func lostSavers() {
        sayingSo.formIntersection([.login])
        inherited = []
    }
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
