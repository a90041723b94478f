import Foundation
import Platform
import Testing

/// Who made the machine, as a sysfs of the test's own says.
@Suite struct MachineMakeTests {
    private func make(of files: [String: String]) throws -> DeviceModelInfo {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("aldaba-make-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        for (name, text) in files {
            let file = root.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        return DeviceModelInfo.read(sysfs: root.path)
    }

    @Test("The firmware's table says it, else the device tree")
    func sources() throws {
        let table = ["class/dmi/id/sys_vendor": "LENOVO\n", "class/dmi/id/product_name": "21AH \n"]
        let tree = ["firmware/devicetree/base/model": "Raspberry Pi 4 Model B\0"]
        #expect(try make(of: table) == DeviceModelInfo(manufacturer: "LENOVO", model: "21AH"))
        #expect(try make(of: tree) == DeviceModelInfo(model: "Raspberry Pi 4 Model B"))
        #expect(try make(of: table.merging(tree) { $1 }) == DeviceModelInfo(manufacturer: "LENOVO", model: "21AH"))
        #expect(try make(of: [:]) == DeviceModelInfo())
    }

    @Test("Control characters are left out, and what is longer than 255 bytes is not told")
    func bounds() throws {
        let table = [
            "class/dmi/id/sys_vendor": "A\u{1b}[31mB\u{7}",
            "class/dmi/id/product_name": String(repeating: "a", count: 256),
        ]
        #expect(try make(of: table) == DeviceModelInfo(manufacturer: "A[31mB"))
    }
}
