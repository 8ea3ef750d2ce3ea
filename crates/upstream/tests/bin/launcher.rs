//! The launcher that the tests start processes with.

fn main() {
    egress::sandbox::maybe_run_launcher();
}
