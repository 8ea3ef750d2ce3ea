//! Other processes, sockets by path, shared memory: what a program could use up or reach at T1.

use std::os::unix::net::UnixDatagram;

use egress::process::Limits;
use egress::sandbox::{Policy, Tier, UnixSockets};

use crate::process::support::{confined_and_free, confining_rungs, run, said};
use crate::sandbox::attempt;

const REFUSED: &str = crate::sandbox::REFUSED;

#[tokio::test]
async fn other_processes_keep_their_limits_and_priorities() {
    let me = std::process::id().to_string();
    for (tier, runner) in confining_rungs().await {
        // Each sets what is set already, so that the unconfined run harms nothing.
        for action in [
            "import resource as r; n = r.RLIMIT_CORE; r.prlimit(int(path), n, r.prlimit(int(path), n))",
            "os.sched_setaffinity(int(path), os.sched_getaffinity(int(path)))",
            "os.setpriority(os.PRIO_PROCESS, int(path), os.getpriority(os.PRIO_PROCESS, int(path)))",
        ] {
            let spec = attempt(action).arg(&me);
            let (confined, free) = confined_and_free(&runner, tier, &spec, Policy::new()).await;
            let expected = if tier == Tier::T2 { "ProcessLookupError" } else { REFUSED };
            assert_eq!((confined.as_str(), free.as_str()), (expected, "done"), "{tier} {action}");
        }
        let own = attempt(
            "import resource as r; r.setrlimit(r.RLIMIT_NOFILE, (64, 64)); os.nice(1); \
             r.prlimit(0, r.RLIMIT_CPU)",
        );
        assert_eq!(said(&run(&runner, own).await.unwrap()), "done", "{tier}");
    }
}

#[tokio::test]
async fn a_pair_of_sockets_reaches_no_socket_by_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.sock");
    let listener = UnixDatagram::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    for (tier, runner) in confining_rungs().await {
        for kind in ["SOCK_DGRAM", "SOCK_RAW"] {
            let action =
                format!("socket.socketpair(socket.AF_UNIX, socket.{kind})[0].sendto(b'x', path)");
            let spec = attempt(&action).arg(&path);
            let policy = Policy::new().write(folder.path());
            let confined = run(&runner, spec.clone().policy(policy.clone())).await.unwrap();
            assert_eq!(said(&confined), REFUSED, "{tier} {kind}");
            assert!(listener.recv(&mut [0; 8]).is_err(), "{tier} {kind}");
            let (_, free) = confined_and_free(&runner, tier, &spec, policy.clone()).await;
            assert_eq!(free, "done", "{tier} {kind}");
            assert_eq!(listener.recv(&mut [0; 8]).unwrap(), 1);
            let allowed = spec.policy(policy.unix_sockets(UnixSockets::Allowed));
            assert_eq!(said(&run(&runner, allowed).await.unwrap()), "done", "{tier} {kind}");
            assert_eq!(listener.recv(&mut [0; 8]).unwrap(), 1);
        }
        let others = attempt("socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)");
        assert_eq!(said(&run(&runner, others).await.unwrap()), "done", "{tier}");
    }
}

#[tokio::test]
async fn no_memory_escapes_its_limit() {
    let limits = Limits { memory: 256 << 20, ..Limits::default() };
    let size = "512 << 20";
    for (tier, runner) in confining_rungs().await {
        for action in [
            format!("import mmap; mmap.mmap(-1, {size})"),
            format!("import mmap; mmap.mmap(-1, {size}, flags=0x2 | 0x20 | 0x100)"),
            format!("import mmap; mmap.mmap(os.open('/dev/zero', os.O_RDWR), {size})"),
            "os.memfd_create('x')".to_owned(),
            format!(
                "libc = ctypes.CDLL(None, use_errno=True); id = libc.shmget(0, {size}, 0o1600)\n    \
                 if id < 0: raise OSError(ctypes.get_errno(), '')\n    libc.shmctl(id, 0, None)"
            ),
        ] {
            let spec = attempt(&action).limits(limits);
            let (confined, free) = confined_and_free(&runner, tier, &spec, Policy::new()).await;
            assert!(
                [REFUSED, "OSError"].contains(&confined.as_str()),
                "{tier} {action} {confined}"
            );
            assert_eq!(free, "done", "{tier} {action}");
        }
    }
}
