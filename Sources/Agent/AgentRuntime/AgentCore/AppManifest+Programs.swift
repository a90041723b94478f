import AgentEngine
import Foundation
import Glibc

/// The checks of the programs that a manifest names.
extension AppManifest {
    /// Programs known to run other programs' code, so that their path proves no app's identity. There are others.
    private static let interpreters: Set<String> = [
        "ash", "awk", "bash", "beam.smp", "bun", "busybox", "bwrap", "csh", "dash", "deno", "dotnet",
        "electron", "elvish", "emacs", "env", "expect", "fish", "flatpak", "gawk", "gjs", "gjs-console",
        "guile", "java", "jimsh", "julia", "ksh", "lua", "luajit", "mawk", "mksh", "mono", "mono-sgen",
        "nawk", "node", "nodejs", "nu", "ocamlrun", "octave", "original-awk", "perl", "php", "php-cgi",
        "pwsh", "pypy", "python", "qjs", "racket", "rbash", "rscript", "ruby", "sbcl", "sh", "tclsh", "tcsh",
        "toybox", "wine", "wine-preloader", "wine64-preloader", "wineloader", "wish", "yash", "zsh",
    ]
    private static let emulated = [
        "aarch64", "arm", "i386", "loongarch64", "mips", "mips64", "ppc64", "ppc64le", "riscv32", "riscv64", "s390x",
        "x86_64",
    ]

    /// Whether a program of this name is known to run what others wrote: an interpreter, with its version or without
    /// (`python3.12`, `guile-3.0`), the dynamic linker, or an emulator of a processor.
    static func isInterpreter(_ name: String) -> Bool {
        let name = name.lowercased()
        var plain = Substring(name)
        while plain.last?.isNumber == true || plain.last == "." { plain.removeLast() }
        if plain.count < name.count, plain.last == "-" { plain.removeLast() }
        if interpreters.contains(name) || interpreters.contains(String(plain)) { return true }
        if name.hasPrefix("ld"), name.split(separator: ".").contains("so") { return true }
        return emulated.contains { name == "qemu-\($0)" || name == "qemu-\($0)-static" }
    }

    /// Whether a file begins as a script does. What is no file, such as a pipe, is not waited for.
    private static func isScript(_ path: String) -> Bool {
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        var head: [UInt8] = [0, 0]
        return Glibc.read(file, &head, 2) == 2 && head == Array("#!".utf8)
    }

    /// The fault of a program that is missing or cannot be run; `nil` when all can be run.
    package func missingProgram() -> AppManifestError? {
        let programs = [("executable", executable), ("serviceExtension.executable", serviceExtension?.executable)]
        for case (let key, let path?) in programs where access(path, X_OK) != 0 {
            let reason = String(cString: strerror(errno))
            return AppManifestError(key: key, problem: "\(path): \(reason); name a program that can be run")
        }
        return nil
    }

    /// The fault of a program that cannot prove which app it is: a script, or an interpreter by its own name or that of
    /// a link to it. `nil` where there is none, and for an app that proves itself by a secret.
    package func programFault() -> AppManifestError? {
        guard !provesBySecret else { return nil }
        let named = URL(fileURLWithPath: executable)
        let program = named.resolvingSymlinksInPath()
        let isInterpreter = [named, program].contains { Self.isInterpreter($0.lastPathComponent) }
        guard isInterpreter || Self.isScript(program.path) else { return nil }
        return AppManifestError(
            key: "executable",
            problem: "\(executable) is an interpreter or a script, and any script could say that it is this app; "
                + "set `provesBySecret` to true, and give the app the secret that installing then makes")
    }
}
