import Glibc

/// Feeds one target, named by `FUZZ_TARGET`, with libFuzzer, whose options are the arguments. `--list` prints the targets.
@main
enum Fuzzer {
    fileprivate static let target = getenv("FUZZ_TARGET").flatMap { FuzzTarget.named(String(cString: $0)) }

    static func main() {
        if CommandLine.arguments.contains("--list") {
            for target in FuzzTarget.all { print(target.name, target.longest) }
            return
        }
        guard target != nil else { fatalError("FUZZ_TARGET names no target; --list prints them") }
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        exit(runDriver(&count, &arguments, testOneInput))
    }
}

/// What libFuzzer calls.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    do {
        try Fuzzer.target?.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    } catch {
        fatalError("\(error)")
    }
    return 0
}

/// libFuzzer's loop (clang's FuzzerInterface). Its own main is not the program's.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ target: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32
