import AldabaTestSupport
import Foundation

/// The bytes of a file in Tests/Fixtures/mcs, which a Python script encoded by hand.
func fixture(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: Repository.fixture("mcs/\(name).bin")))
}
