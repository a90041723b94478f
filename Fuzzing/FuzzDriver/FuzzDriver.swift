/// Hands libFuzzer its test: the program keeps its own `main`, which the package manager insists on.
public enum FuzzDriver {
    public typealias Test = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt

    /// Runs libFuzzer with the program's arguments until it ends; its exit code is the program's.
    public static func run(_ test: @escaping Test) -> CInt {
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        return runDriver(&count, &arguments, test)
    }
}

/// libFuzzer's own entry (compiler-rt, FuzzerInterface.h).
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ test: @escaping FuzzDriver.Test
) -> CInt

/// libFuzzer's own `main`, which the linker brings along and nobody calls, refers to this symbol.
@_cdecl("LLVMFuzzerTestOneInput")
public func unusedTest(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt { 0 }
