/// A number for each spool that joins a delivery. A spool that comes back has another one.
typealias SpoolNumber = Int
