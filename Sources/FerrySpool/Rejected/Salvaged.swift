/// What salvaging a file saved.
struct Salvaged: Equatable {
    var events: Int64 = 0
    /// How many events there are before the first line that is left out.
    var unbroken: Int64 = 0
    /// Lines that are longer than any event may be.
    var tooLong: Int64 = 0
    /// Whole lines of a member whose checksum is wrong, taken or not.
    var unverified: Int64 = 0
    /// There is no damage in it: every line is saved.
    var isSound = false
}
