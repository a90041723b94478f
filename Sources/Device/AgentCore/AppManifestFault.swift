import Foundation

/// What is wrong with a manifest.
public struct AppManifestFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The key that is at fault; empty when it is the whole file.
    public var key: String
    public var problem: String

    init(key: String, problem: String) {
        self.key = key
        self.problem = problem
    }

    init(_ error: DecodingError) {
        func name(_ context: DecodingError.Context) -> String {
            context.codingPath.map(\.stringValue).joined(separator: ".")
        }
        switch error {
        case .keyNotFound(let key, _): self.init(key: key.stringValue, problem: "it is missing")
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            self.init(key: name(context), problem: "it has another type than it should")
        case .dataCorrupted(let context) where context.codingPath.isEmpty:
            self.init(key: "", problem: "the file is not a JSON object")
        case .dataCorrupted(let context) where name(context) == "authorization":
            self.init(key: "authorization", problem: "it must be one of: ask, granted, denied")
        case .dataCorrupted(let context) where name(context) == "lifecycle":
            self.init(key: "lifecycle", problem: "it must be one of: declared, always, focus")
        case .dataCorrupted(let context):
            self.init(key: name(context), problem: "its value is not allowed")
        @unknown default: self.init(key: "", problem: "it cannot be read")
        }
    }

    public var description: String { key.isEmpty ? "manifest: \(problem)" : "manifest: `\(key)`: \(problem)" }
}

extension AppManifest {
    /// Programs that run what others wrote: who runs one of them may be anybody.
    private static let interpreters: Set<String> = [
        "bash", "bun", "busybox", "dash", "deno", "dotnet", "env", "gjs", "guile", "java", "ksh", "lua", "mono", "node",
        "perl", "php", "python", "qemu", "ruby", "sh", "tclsh", "wish", "zsh",
    ]

    /// What stands against it that its program proves which app it is: that it is an interpreter, or a script, which runs
    /// in one.
    func programFault() -> AppManifestFault? {
        guard !provesBySecret else { return nil }
        let program = URL(fileURLWithPath: executable).resolvingSymlinksInPath()
        let name = program.lastPathComponent.prefix { $0.isLetter }.lowercased()
        let head = FileHandle(forReadingAtPath: program.path).flatMap { try? $0.read(upToCount: 2) }
        guard Self.interpreters.contains(name) || head == Data("#!".utf8) else { return nil }
        return AppManifestFault(
            key: "executable",
            problem: "\(executable) is an interpreter or a script, and any script could say that it is this app; "
                + "set `provesBySecret` to true, and give the app the secret that installing then makes")
    }
}
