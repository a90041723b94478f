import AldabaConfiguration
import HubProtocol

/// The file of a running `up` by which the commands of the guides work in any shell: it puts `aldaba` on PATH and sets the
/// variables of the guides.
struct ShellVariables {
    let summary: UpSummary

    /// The file's content.
    var text: String {
        let folder = UpSummary.quoted(String(summary.plan.executable.prefix(upTo: lastSlash)))
        let lines = variables.map { "export \($0)=\(UpSummary.quoted($1))" }
        return """
            # Written by `aldaba up`, and removed at its end: read it into a shell with `. FILE`.
            case ":$PATH:" in *:\(folder):*) ;; *) PATH=\(folder):$PATH ;; esac
            export PATH
            \(lines.joined(separator: "\n"))

            """
    }

    private var lastSlash: String.Index {
        summary.plan.executable.lastIndex(of: "/") ?? summary.plan.executable.startIndex
    }

    private var variables: [(String, String)] {
        let plan = summary.plan
        return [
            ("ALDABA_DATA", plan.folder.root), ("SOCKET", plan.socket),
            ("HTTP", summary.addresses.http ?? summary.addresses.control), ("CA", plan.certificates.authority),
            ("TOKEN", summary.deviceToken), ("TEAM", DemoApp.team.rawValue), ("DEMO_APP", plan.appExecutable),
            ("HUB", summary.hub ?? ""), ("HUB_NAME", DemoApp.hub),
        ]
    }

    /// Writes the file.
    func write() throws {
        try PrivateFile.write(Array(text.utf8), to: summary.plan.folder.shellVariables)
    }
}
