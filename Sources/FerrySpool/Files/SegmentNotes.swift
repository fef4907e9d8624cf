/// What goes along with a segment in extended attributes: a copy by other tools may lose it, and a file system without them keeps none.
package struct SegmentNotes: Sendable {
    /// The way that the segment came.
    package var trail = Trail.none
    /// What the clock said when the segment was opened, where that is not the time in its name.
    package var clockReading: Timestamp?
    /// When the segment was opened, as far as that is known, where the clock that dated it was behind.
    package var dated: Timestamp?
}
