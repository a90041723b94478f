import AldabaConfiguration
import Foundation
import Platform

/// QR codes for terminals, drawn by `qrencode`.
enum QRCode {
    /// The text as a code of block characters. It is given on standard input, so that no list of processes shows it.
    static func render(_ text: String) throws -> String {
        let environment = ProcessInfo.processInfo.environment
        guard let path = ChildProgram.find("qrencode", environment: environment) else {
            throw CommandError(
                .failed, "there is no qrencode here; install it, or copy the key that is printed without --qr")
        }
        let program = ChildProgram(
            path: path, arguments: ["-t", "UTF8", "-m", "2", "-o", "-"], environment: environment)
        guard let drawn = try program.run(input: Data(text.utf8), outputLimit: 65_536, timeout: .seconds(10)) else {
            throw CommandError(.failed, "qrencode could not draw it")
        }
        return String(decoding: drawn, as: UTF8.self)
    }
}
