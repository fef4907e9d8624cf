import FerrySpool
import Glibc

extension Progress {
    /// Begins with reading inputs: of files it is known how large they are.
    func begin(of inputs: [String]) {
        guard isShown else { return }
        let sizes = inputs.map(Self.size)
        let bytes = sizes.contains(nil) ? nil : sizes.compactMap(\.self).reduce(ByteCount.zero, +)
        let line = ProgressLine(verb: "read", unit: .event, total: bytes.map { .init(bytes: $0) })
        begin(line, showsStandstill: bytes != nil)
    }

    /// Returns how much there is to be read of an input; `nil` where only its end tells.
    private static func size(of input: String) -> ByteCount? {
        if input != "-" { return (try? FileStatus(of: input)).flatMap { $0.isRegular ? $0.size : nil } }
        let place = lseek(0, 0, SEEK_CUR)
        guard place >= 0, let status = try? OpenFile.standardInput().status(), status.isRegular else {
            return nil
        }
        return max(.zero, status.size - ByteCount(Int64(place)))
    }
}
