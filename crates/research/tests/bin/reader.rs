//! The program that the tests of this crate start as launcher and as reader.

fn main() {
    egress::sandbox::maybe_run_launcher();
    reading::maybe_run_reader();
}
