import FerrySpool
import Testing

@Suite("Which intervals a profile takes")
struct IntervalBoundsTests {
    @Test("App Center's SDK refuses below 6 s and above a day, and the words tell two numbers apart")
    func appCenter() throws {
        #expect(try IntervalBounds.appCenter.bounded(.seconds(6)) == .seconds(6))
        #expect(try IntervalBounds.appCenter.bounded(.seconds(86_400)) == .seconds(86_400))
        for (interval, text) in [(Duration.seconds(86_401), "86401 s"), (.milliseconds(5_990), "5.99 s"), (.zero, "0 s")] {
            let error = IntervalError(interval: interval, bounds: .appCenter)
            #expect(throws: error) { try IntervalBounds.appCenter.bounded(interval) }
            #expect("\(error)" == "an interval of \(text) is not between 6 s and 86400 s")
        }
    }

    @Test("Sensors' SDK raises what is below 5 s")
    func sensors() throws {
        #expect(try IntervalBounds.sensors.bounded(.seconds(1)) == .seconds(5))
        #expect(try IntervalBounds.sensors.bounded(.seconds(-1)) == .seconds(5))
        #expect(try IntervalBounds.sensors.bounded(.seconds(7)) == .seconds(7))
    }

    @Test("Google Analytics' SDK dispatches by hand at zero and below")
    func googleAnalytics() throws {
        #expect(try IntervalBounds.googleAnalytics.bounded(.seconds(-1)) == .seconds(-1))
        #expect(try IntervalBounds.googleAnalytics.bounded(.zero) == .zero)
        #expect(try IntervalBounds.googleAnalytics.bounded(.seconds(1)) == .seconds(1))
    }
}
