import Foundation

/// The configuration files of this machine.
package enum ConfigurationFile {
    /// Reads the configuration of one program: the file that `path` names, else `aldaba.yaml` in the current folder if
    /// there is one; the process's environment; and the command's arguments.
    ///
    /// - Throws: ``CommandError`` with exit 3 when the file cannot be read; ``ConfigurationFaults``.
    package static func read(
        program: ConfiguredProgram, arguments: [String], path: String?, environment: [String: String]
    ) throws -> ConfigurationValues {
        let name = path ?? "aldaba.yaml"
        let text: String?
        do { text = try PrivateFile.text(name) } catch { throw CommandError(.invalidInput, "\(error)") }
        if path != nil, text == nil {
            throw CommandError(.invalidInput, "--config: there is no file \(name); give one that can be read")
        }
        return try ConfigurationReader(
            program: program, arguments: arguments, environment: environment,
            file: text.map { (path: name, text: $0) }
        ).read()
    }
}
