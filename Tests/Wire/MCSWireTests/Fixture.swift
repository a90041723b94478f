import Foundation

/// The bytes of a file in Tests/Fixtures/mcs, which a Python script encoded by hand.
func fixture(_ name: String, file: String = #filePath) throws -> [UInt8] {
    let folder = URL(fileURLWithPath: file).deletingLastPathComponent().appendingPathComponent("../../Fixtures/mcs")
    return [UInt8](try Data(contentsOf: folder.appendingPathComponent("\(name).bin")))
}
