import APNsProtocol
import Foundation
import PushCore

/// The header fields of a request: lines of `name: value`, checked in every step.
enum HeaderFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        var block = HeaderBlock()
        for line in input.split(separator: UInt8(ascii: "\n")) {
            let separator = line.dropFirst().firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
            block.append(
                name: UnsafeBufferPointer(rebasing: line[line.startIndex..<separator]),
                value: UnsafeBufferPointer(rebasing: line[separator...].dropFirst()))
        }
        let head = APNsRequestHead(block)
        _ = head.isPost
        if case .device(let digits) = head.path { _ = DeviceToken(hexadecimal: digits) }
        _ = head.duplicateRefusal
        let name = String(decoding: input, as: UTF8.self)
        let names = ServerNames([name], ports: [8443])
        if ServerNames.isName(name), !name.contains(":") {
            precondition(names.include(host: name) && names.include(origin: "https://\(name):8443"))
        }
        let fields = try? head.fields()
        if let topic = try? head.topic() {
            _ = try? AddressedTopic(topic: topic, pushType: fields?.pushType).withoutSuffix()
        }
        if let id = head.validAPNsID { _ = ServerAPNsID.id(of: id.rawValue) }
        if let id = head.echoedID {
            precondition(id.count <= 64 && !id.contains { $0 < 0x20 && $0 != 9 || $0 == 0x7F })
        }
    }
}
