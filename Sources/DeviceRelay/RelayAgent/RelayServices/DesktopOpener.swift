import Foundation
import LinuxDesktop
import Platform
import RelayProtocol

/// Opens addresses on this desktop: in an app that the session bus starts, by `xdg-open`, or by the desktop portal in a
/// sandbox and where there is no `xdg-open`.
package final class DesktopOpener: AddressOpener {
    private static let application = "org.freedesktop.Application"
    private static let portal = "org.freedesktop.portal."

    private let environment: [String: String]
    private let programs: XDGOpen
    private let threads = BoundedThreads("aldaba-open", limit: 16)

    /// An opener in this environment.
    package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.environment = environment
        programs = XDGOpen(environment: environment)
    }

    private var isSandboxed: Bool {
        environment["FLATPAK_ID"] != nil || environment["SNAP"] != nil || access("/.flatpak-info", F_OK) == 0
    }

    /// Opens an address as the module's README describes.
    package func open(_ uri: String, app: String?, then complete: @escaping @Sendable (RelayOutcome) -> Void) {
        if app == nil, !isSandboxed, ChildProgram.find("xdg-open", environment: environment) != nil {
            return programs.open(uri, app: nil, then: complete)
        }
        let isBegun = threads.begin({ [self] in app.map { activate($0, uri) } ?? ask(uri) }, then: complete)
        if !isBegun { complete(RelayOutcome(.resourceLimits, detail: "other addresses are being opened here")) }
    }

    /// Looks into the app's desktop file, or asks `xdg-mime`; the portal does not say what it could open.
    package func findProgram(for scheme: String, app: String?, then complete: @escaping @Sendable (Bool) -> Void) {
        if let app {
            let entry = Self.isBusName(app) ? desktopEntry(app) : nil
            return complete(entry.map { Self.handles(scheme: scheme, entry: $0) } ?? false)
        }
        guard !isSandboxed else { return complete(true) }
        programs.findProgram(for: scheme, app: nil, then: complete)
    }

    // MARK: Apps

    private static func handles(scheme: String, entry: [String: String]) -> Bool {
        let types = entry["MimeType"]?.split(separator: ";").map(String.init) ?? []
        return types.contains("x-scheme-handler/\(scheme)")
    }

    private func activate(_ app: String, _ uri: String) -> RelayOutcome {
        let scheme = String(uri.prefix { $0 != ":" }).lowercased()
        guard Self.isBusName(app), let entry = desktopEntry(app) else {
            return RelayOutcome(.appNotInstalled, detail: "\(app) is not installed there, or offers nothing to others")
        }
        guard entry["DBusActivatable"] == "true" else {
            return RelayOutcome(.appUnavailable, detail: "\(app) cannot be started by the session bus")
        }
        guard Self.handles(scheme: scheme, entry: entry) else {
            return RelayOutcome(.protocolUnavailable, detail: "\(app) does not open \(scheme) addresses")
        }
        do throws(DBusClient.Fault) {
            let bus = try DBusClient(environment: environment)
            let path = "/" + app.replacing(".", with: "/").replacing("-", with: "_")
            _ = try bus.call(
                "Open", of: Self.application, at: path, in: app, [.strings([uri]), .dictionary([:])], starts: true,
                timeout: .seconds(25))
            return RelayOutcome(.success)
        } catch {
            return RelayOutcome(
                error.name.hasSuffix("ServiceUnknown") ? .appUnavailable : .failed, detail: error.words)
        }
    }

    /// Whether a name is a D-Bus name: parts of letters, digits, `_` and `-`, separated by points, none beginning with
    /// a digit (D-Bus, "Bus names").
    private static func isBusName(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count > 1 && name.utf8.count <= 255
            && parts.allSatisfy { part in
                guard let first = part.utf8.first, !(48...57).contains(first) else { return false }
                return part.utf8.allSatisfy {
                    (65...90).contains($0) || (97...122).contains($0) || (48...57).contains($0) || $0 == 95 || $0 == 45
                }
            }
    }

    /// The main group of an app's desktop file; the person's own comes before the system's.
    private func desktopEntry(_ app: String) -> [String: String]? {
        let home = environment["XDG_DATA_HOME"] ?? (environment["HOME"] ?? "/") + "/.local/share"
        let others = environment["XDG_DATA_DIRS"] ?? "/usr/local/share:/usr/share"
        for folder in [home] + others.split(separator: ":").map(String.init) {
            guard let text = FileManager.default.contents(atPath: "\(folder)/applications/\(app).desktop") else {
                continue
            }
            var entry: [String: String] = [:]
            var isMain = false
            for line in String(decoding: text.prefix(65_536), as: UTF8.self).split(separator: "\n") {
                if line.hasPrefix("[") { isMain = line == "[Desktop Entry]" }
                guard isMain, let sign = line.firstIndex(of: "=") else { continue }
                entry[String(line[..<sign])] = String(line[line.index(after: sign)...])
            }
            return entry
        }
        return nil
    }

    // MARK: The portal

    private func ask(_ uri: String) -> RelayOutcome {
        do throws(DBusClient.Fault) {
            let bus = try DBusClient(environment: environment)
            bus.watch(Self.portal + "Request", "Response")
            let answer = try bus.call(
                "OpenURI", of: Self.portal + "OpenURI", at: "/org/freedesktop/portal/desktop",
                in: Self.portal + "Desktop", [.string(""), .string(uri), .dictionary([:])], starts: true,
                timeout: .seconds(25))
            guard case .path(let request)? = answer.first else {
                return RelayOutcome(.failed, detail: "the desktop portal answers otherwise than its interface says")
            }
            // A person may be asked which program it is to be.
            guard let response = bus.signal(Self.portal + "Request", "Response", path: request, timeout: .seconds(60)),
                case .uint32(let code)? = response.first
            else { return RelayOutcome(.outcomeUnknown, detail: "the desktop portal has not said what came of it") }
            switch code {
            case 0: return RelayOutcome(.success)
            case 1: return RelayOutcome(.denied, detail: "the person at the device said no")
            default: return RelayOutcome(.protocolUnavailable, detail: "the desktop portal could not open it")
            }
        } catch {
            return RelayOutcome(.failed, detail: "there is neither xdg-open nor a desktop portal: \(error.words)")
        }
    }
}
