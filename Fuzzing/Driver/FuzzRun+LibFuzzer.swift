#if LIBFUZZER
    import Foundation

    /// A run by libFuzzer, with libFuzzer's arguments.
    enum FuzzRun {
        /// Runs until libFuzzer ends; its exit code is the program's.
        static func run(_ test: any FuzzTest.Type, _ arguments: [String]) -> CInt {
            var words: [UnsafeMutablePointer<CChar>?] = ([CommandLine.arguments[0]] + arguments).map { strdup($0) }
            var count = CInt(words.count)
            words.append(nil)
            return words.withUnsafeMutableBufferPointer { words in
                var start = words.baseAddress
                return runDriver(&count, &start) { data, count in
                    Fuzz.chosen?.run(UnsafeBufferPointer(start: data, count: count))
                    return 0
                }
            }
        }
    }

    /// libFuzzer's own entry (compiler-rt, FuzzerInterface.h).
    @_silgen_name("LLVMFuzzerRunDriver")
    private func runDriver(
        _ count: UnsafeMutablePointer<CInt>,
        _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
        _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
    ) -> CInt

    /// libFuzzer's own `main`, which is linked as well and never called, refers to this symbol.
    @_cdecl("LLVMFuzzerTestOneInput")
    public func unusedTest(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt { 0 }
#endif
