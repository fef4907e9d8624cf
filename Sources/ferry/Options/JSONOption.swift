import ArgumentParser

struct JSONOption: ParsableArguments {
    @Flag(help: "Print JSON for programs.")
    var json = false
}
