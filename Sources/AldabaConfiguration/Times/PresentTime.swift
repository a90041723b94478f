import Platform
import PushCore

/// The present, as stores and tokens take it.
package func presentTime() -> Timestamp { Timestamp(rawValue: MachineClock.wall) }
