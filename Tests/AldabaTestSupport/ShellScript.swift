import Platform
import Testing

/// Makes a program of a shell script. Another process writes it: while this one has a file open for writing, what other
/// tests start may hold it too for a moment, and a program that is held so cannot be run (ETXTBSY).
package func installScript(_ script: String, at path: String) throws {
    let writer = ChildProgram(
        path: "/bin/sh",
        arguments: ["-c", #"printf '#!/bin/sh\n%s\n' "$1" > "$2" && chmod 700 "$2""#, "sh", script, path],
        environment: ["PATH": "/usr/bin:/bin"])
    try #require(try writer.run(timeout: .seconds(60)) != nil)
}
