#if !LIBFUZZER
    import Foundation

    /// A run in an ordinary build: inputs from files, then changes of them at random, the same ones in each run.
    ///
    /// Arguments: `--seconds N` for how long inputs are changed, `--keep FILE` for the file that holds the input that is
    /// being tried, and files of inputs. A trap ends the program, and the file then holds the input that caused it.
    enum FuzzRun {
        /// The seconds for which one input may be tried.
        private static let limit: UInt32 = 10

        /// Runs the test; returns the exit code.
        static func run(_ test: any FuzzTest.Type, _ arguments: [String]) -> CInt {
            var rest = arguments[...]
            var (seconds, descriptor) = (0.0, CInt(-1))
            while let option = rest.first, option.hasPrefix("--") {
                let value = rest.dropFirst().first ?? ""
                rest = rest.dropFirst(2)
                switch option {
                case "--seconds": seconds = Double(value) ?? 0
                case "--keep": descriptor = open(value, O_RDWR | O_CREAT | O_TRUNC, 0o600)
                default:
                    print("\(option) is none of --seconds and --keep")
                    return EX_USAGE
                }
            }
            var seeds: [[UInt8]] = []
            for path in rest {
                guard let content = FileManager.default.contents(atPath: path) else {
                    print("\(path) cannot be read")
                    return EX_NOINPUT
                }
                seeds.append(Array(content))
            }
            print("\(test): \(tryAll(seeds, test, seconds, descriptor)) inputs")
            return 0
        }

        /// Returns the number of inputs that were tried.
        private static func tryAll(
            _ seeds: [[UInt8]], _ test: any FuzzTest.Type, _ seconds: Double, _ descriptor: CInt
        ) -> Int {
            let end = ContinuousClock.now + .seconds(seconds)
            for seed in seeds { tryOne(seed, test, descriptor) }
            var mutator = InputMutator(seeds)
            var count = seeds.count
            while ContinuousClock.now < end {
                tryOne(mutator.next(), test, descriptor)
                count += 1
            }
            return count
        }

        private static func tryOne(_ input: [UInt8], _ test: any FuzzTest.Type, _ descriptor: CInt) {
            if descriptor >= 0, ftruncate(descriptor, input.count) != 0 || pwrite(descriptor, input, input.count, 0) < 0
            {
                preconditionFailure("the input cannot be kept")
            }
            // A test that hangs is ended by SIGALRM.
            alarm(limit)
            input.withUnsafeBufferPointer { test.run($0) }
            alarm(0)
        }
    }
#endif
