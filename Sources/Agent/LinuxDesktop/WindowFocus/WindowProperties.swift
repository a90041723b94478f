import Glibc

/// Reads the properties of windows from their bytes.
enum WindowProperties {
    /// This machine's name, as programs write it to their windows.
    static let host: String = {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, 255) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }()

    /// A number of 32 bits, in the order of this machine's bytes.
    static func number(_ bytes: [UInt8]) -> UInt32? {
        guard bytes.count >= 4 else { return nil }
        return bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
    }

    /// The process of a window, where it is one of this machine: another one's numbers mean nothing here.
    ///
    /// - Parameters:
    ///   - process: `_NET_WM_PID`.
    ///   - machine: `WM_CLIENT_MACHINE`, which must be there beside it (EWMH, "_NET_WM_PID").
    static func process(_ process: [UInt8]?, machine: [UInt8]?, host: String) -> Int32? {
        guard let number = process.flatMap(number).flatMap(Int32.init(exactly:)), number > 0 else { return nil }
        // Some programs write the ending NUL of the name too.
        guard let machine, machine.prefix(while: { $0 != 0 }).elementsEqual(host.utf8) else { return nil }
        return number
    }
}
