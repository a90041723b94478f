import Foundation
import Platform

/// Ends the process when its standard input closes: the program that started it is gone.
package enum SupervisorWatch {
    private static let watch: Void = NamedThread.begin("aldaba-watch") {
        StandardInput.waitForEnd()
        exit(0)
    }

    /// Begins to watch; does nothing where it has begun.
    package static func begin() { watch }
}
