import Foundation

/// The manufacturer and model of this machine, according to its firmware.
package struct DeviceModelInfo: Hashable, Sendable {
    /// The manufacturer; empty where it is not known.
    package var manufacturer: String
    /// The model; empty where it is not known.
    package var model: String

    /// Creates a make from a manufacturer and a model.
    package init(manufacturer: String = "", model: String = "") {
        self.manufacturer = manufacturer
        self.model = model
    }

    /// Reads the make from sysfs: the DMI table (sysfs-firmware-dmi-entries), or the device tree's model.
    ///
    /// - Parameter sysfs: The mount point of sysfs.
    package static func read(sysfs: String = "/sys") -> DeviceModelInfo {
        let table = sysfs + "/class/dmi/id"
        let make = DeviceModelInfo(
            manufacturer: line(of: table + "/sys_vendor"), model: line(of: table + "/product_name"))
        guard make == DeviceModelInfo() else { return make }
        return DeviceModelInfo(model: line(of: sysfs + "/firmware/devicetree/base/model"))
    }

    /// The file's first line without control characters; empty for one of more than 255 bytes, and where there is none.
    private static func line(of path: String) -> String {
        guard let file = FileHandle(forReadingAtPath: path), let bytes = try? file.read(upToCount: 256),
            bytes.count <= 255
        else { return "" }
        let text = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != 0 }, as: UTF8.self)
        let shown = String(text.unicodeScalars.filter { $0.properties.generalCategory != .control })
            .trimmingCharacters(in: .whitespaces)
        return shown.utf8.count <= 255 ? shown : ""
    }
}
