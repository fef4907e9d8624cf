extension Range where Bound: FixedWidthInteger {
    /// Returns the first number for which a condition holds that, once it holds, holds for all greater ones; the upper bound where it never does.
    /// Asks for few of them.
    func partitioningIndex(where isBehind: (Bound) throws -> Bool) rethrows -> Bound {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = low + (high - low) / 2
            if try isBehind(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
