/// Whether the screen is locked: it is as long as any source reports it.
struct LockState {
    /// A service that reports whether the screen is locked.
    enum Source: Hashable {
        case saver(ScreenSaver)
        /// The login manager, of the user session.
        case login
    }

    private var sayingSo: Set<Source> = []
    /// The screen savers whose state was reported by an earlier process, and not yet by the current one.
    private var inherited: Set<Source> = []

    var isLocked: Bool { !sayingSo.isEmpty }

    mutating func receive(_ isLocked: Bool, from source: Source) {
        inherited.remove(source)
        if isLocked { sayingSo.insert(source) } else { sayingSo.remove(source) }
    }

    /// Another process took a screen saver's name; the earlier one's report stays until this one has been asked.
    mutating func ownerChanged(of saver: ScreenSaver) {
        if sayingSo.contains(.saver(saver)) { inherited.insert(.saver(saver)) }
    }

    /// A screen saver was asked and did not answer: only its own reports stay.
    mutating func wasSilent(_ saver: ScreenSaver) {
        if inherited.remove(.saver(saver)) != nil { sayingSo.remove(.saver(saver)) }
    }

    /// The session bus is gone: no screen saver could report any more that the screen was unlocked.
    mutating func lostSavers() {
        sayingSo.formIntersection([.login])
        inherited = []
    }
}

/// The screen savers that report on the session bus whether they are active, each under its own name.
enum ScreenSaver: String, CaseIterable {
    case freedesktop, gnome, mate, cinnamon, xfce

    /// The bus name, which is also the name of the interface.
    var name: String { "org.\(rawValue).ScreenSaver" }
    var path: String { "/org/\(rawValue)/ScreenSaver" }

    /// The D-Bus match rules for the screen saver's signals.
    var rules: [String] {
        [
            "type='signal',sender='\(name)',interface='\(name)',member='ActiveChanged'",
            "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(name)'",
        ]
    }
}
