/// A number on an app's icon, as launchers read it (the LauncherEntry signal of Unity's API: Plasma's task manager, the
/// docks of GNOME and Plank).
struct LauncherBadge: Hashable, Sendable {
    static let interface = "com.canonical.Unity.LauncherEntry"

    let path: String
    let arguments: [BusValue]

    init(_ count: Int, desktopEntry: String) {
        // By convention a path of the sender's own; one app's differs from another's.
        let hash = desktopEntry.utf8.reduce(UInt64(5381)) { ($0 << 5) &+ $0 &+ UInt64($1) }
        path = "/com/canonical/unity/launcherentry/\(hash)"
        arguments = [
            .string("application://\(BusValue.plain(desktopEntry)).desktop"),
            .dictionary(["count": .int64(Int64(count)), "count-visible": .boolean(count > 0)]),
        ]
    }
}
