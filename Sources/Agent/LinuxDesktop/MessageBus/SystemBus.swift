/// The bus of the whole machine.
package enum SystemBus {
    /// The system bus's address: `DBUS_SYSTEM_BUS_ADDRESS`, else the specification's socket. Its existence is not
    /// checked.
    package static func address(environment: [String: String]) -> String {
        let given = environment["DBUS_SYSTEM_BUS_ADDRESS"] ?? ""
        return given.isEmpty ? "unix:path=/var/run/dbus/system_bus_socket" : given
    }
}
