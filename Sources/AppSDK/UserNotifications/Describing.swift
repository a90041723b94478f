import Foundation

extension NSObject {
    /// The class, the address and what an object holds, such as
    /// `<UNNotificationAction: 0x1; identifier: ok, title: OK>`; what is missing is `(null)`.
    func describing(_ members: KeyValuePairs<String, Any?>) -> String {
        let address = String(UInt(bitPattern: ObjectIdentifier(self)), radix: 16)
        let values = members.map { "\($0.key): \($0.value.map { "\($0)" } ?? "(null)")" }
        return "<\(type(of: self)): 0x\(address); \(values.joined(separator: ", "))>"
    }
}
