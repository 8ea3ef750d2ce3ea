//! What a confined child cannot do. Every test also runs the same child unconfined and sees it
//! succeed, so that a test of a refusal can fail.
#![cfg(target_os = "linux")]

mod hiding;
mod metadata;
mod resources;

use std::fs;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;

use egress::process::Spec;
use egress::sandbox::{Mode, Network, Policy, Tier, UnixSockets};

use crate::process::support::{confined_and_free, confining_rungs, python, run, runner, said};

/// Does what its argument names and says how it went.
fn attempt(action: &str) -> Spec {
    python(&format!(
        "import os, sys, socket, ctypes\n\
         path = sys.argv[1] if len(sys.argv) > 1 else ''\n\
         try:\n    {action}\n    print('done')\n\
         except OSError as error: print(type(error).__name__)"
    ))
}

const REFUSED: &str = "PermissionError";

/// How a write outside is refused: in a namespace the file system is read-only, which Python gives no name.
fn unwritable(tier: Tier) -> &'static str {
    if tier == Tier::T2 { "OSError" } else { REFUSED }
}

#[tokio::test]
async fn this_host_confines() {
    // The machines we test on have all of it: a probe that finds less is broken.
    let host = runner(Tier::T2).await.host();
    assert_eq!(host.tier(), Tier::T2, "{host:?}");
    assert!(host.landlock_abi >= 1 && host.landlock_abi < u8::MAX, "{host:?}");
}

#[tokio::test]
async fn a_home_cannot_be_read() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join(".ssh")).unwrap();
    let key = home.path().join(".ssh/id_ed25519");
    fs::write(&key, "secret").unwrap();
    for (tier, runner) in confining_rungs().await {
        for action in ["open(path).read()", "os.listdir(os.path.dirname(path))"] {
            let spec = attempt(action).arg(&key);
            let (confined, free) = confined_and_free(&runner, tier, &spec, Policy::new()).await;
            assert_eq!((confined.as_str(), free.as_str()), (REFUSED, "done"), "{tier} {action}");
        }
        let granted =
            attempt("open(path).read()").arg(&key).policy(Policy::new().read(home.path()));
        assert_eq!(said(&run(&runner, granted).await.unwrap()), "done");
    }
}

#[tokio::test]
async fn the_real_home_and_shadow_cannot_be_read() {
    let home = std::env::home_dir().unwrap();
    for (tier, runner) in confining_rungs().await {
        for path in [home.as_path(), Path::new("/etc"), Path::new("/tmp"), Path::new("/")] {
            let spec = attempt("os.listdir(path)").arg(path);
            let (confined, free) = confined_and_free(&runner, tier, &spec, Policy::new()).await;
            assert_eq!((confined.as_str(), free.as_str()), (REFUSED, "done"), "{tier} {path:?}");
        }
    }
}

#[tokio::test]
async fn nothing_outside_can_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    for (tier, runner) in confining_rungs().await {
        for action in [
            "open(path, 'a').close()",
            "os.truncate(path, 0)",
            "os.close(os.open(path, os.O_RDONLY | os.O_TRUNC))",
            "os.rename(path, path + '2')",
            "os.unlink(path)",
            "os.mkdir(path + '-folder')",
            "os.symlink('/', path + '-link')",
        ] {
            fs::write(&file, "content").unwrap();
            // Readable on purpose: reading must not lead to writing.
            let policy = Policy::new().read(folder.path());
            let spec = attempt(action).arg(&file);
            let confined = run(&runner, spec.clone().policy(policy.clone())).await.unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), "content", "{tier} {action}");
            assert_eq!(said(&confined), unwritable(tier), "{tier} {action}");
            let free = run(&runner, spec.policy(policy.mode(Mode::Off))).await.unwrap();
            assert_eq!(said(&free), "done", "{tier} {action}");
            for entry in fs::read_dir(folder.path()).unwrap().flatten() {
                let gone = fs::remove_file(entry.path()).or_else(|_| fs::remove_dir(entry.path()));
                gone.unwrap();
            }
        }
    }
}

#[tokio::test]
async fn the_write_list_and_the_own_folder_can_be_written() {
    let folder = tempfile::tempdir().unwrap();
    for (tier, runner) in confining_rungs().await {
        let listed = attempt("open(path + '/new', 'w').write('x')").arg(folder.path());
        let policy = Policy::new().write(folder.path()).mode(Mode::Required(tier));
        assert_eq!(said(&run(&runner, listed.policy(policy)).await.unwrap()), "done");
        let own = attempt("open('new', 'w').write('x'); open(os.environ['TMPDIR'] + '/t', 'w')");
        assert_eq!(said(&run(&runner, own).await.unwrap()), "done");
        // A folder to start in is not a folder to write in.
        let start = attempt("open('other', 'w')").folder(folder.path());
        assert_eq!(said(&run(&runner, start).await.unwrap()), unwritable(tier), "{tier}");
    }
}

#[tokio::test]
async fn a_parents_environment_cannot_be_read() {
    let parent = format!("/proc/{}/environ", std::process::id());
    for (tier, runner) in confining_rungs().await {
        let spec = attempt("print(len(open(path, 'rb').read()))").arg(&parent);
        let (confined, free) = confined_and_free(&runner, tier, &spec, Policy::new()).await;
        assert!(free.ends_with("done"), "{free}");
        // In its own process namespace the parent does not even exist.
        let expected = if tier == Tier::T2 { "FileNotFoundError" } else { REFUSED };
        assert_eq!(confined, expected, "{tier}");

        let ancestors = "p = os.getppid()\n    \
                         open(f'/proc/{p}/environ', 'rb').read()";
        let (confined, free) =
            confined_and_free(&runner, tier, &attempt(ancestors), Policy::new()).await;
        assert_eq!((confined.as_str(), free.as_str()), (REFUSED, "done"), "{tier}");
    }
}

#[tokio::test]
async fn the_gateway_cannot_be_signalled() {
    let me = std::process::id();
    for (tier, runner) in confining_rungs().await {
        if tier == Tier::T1 && runner.host().landlock_abi < 6 {
            continue;
        }
        let spec = attempt("os.kill(int(path), 0)").arg(me.to_string());
        let (confined, free) = confined_and_free(&runner, tier, &spec, Policy::new()).await;
        assert_eq!(free, "done");
        assert!([REFUSED, "ProcessLookupError"].contains(&confined.as_str()), "{tier} {confined}");
    }
}

#[tokio::test]
async fn the_network_needs_permission() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let connect = "socket.create_connection(('127.0.0.1', int(path)), 5).close()";
    for (tier, runner) in confining_rungs().await {
        let spec = attempt(connect).arg(&port);
        let (confined, free) = confined_and_free(&runner, tier, &spec, Policy::new()).await;
        assert_eq!((confined.as_str(), free.as_str()), (REFUSED, "done"), "{tier}");

        let policy = Policy::new().network(Network::Allowed);
        let allowed = run(&runner, spec.policy(policy)).await.unwrap();
        assert_eq!(allowed.tier, tier);
        assert_eq!(said(&allowed), "done", "{tier}");
    }
}

#[tokio::test]
async fn a_program_can_be_limited_to_one_port() {
    let (open, closed) =
        (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let (port, other) = (open.local_addr().unwrap().port(), closed.local_addr().unwrap().port());
    for (tier, runner) in confining_rungs().await {
        if runner.host().landlock_abi < 4 {
            testkit::skip_on_this_host(format_args!("{tier}: this kernel cannot limit ports"));
            continue;
        }
        let policy = Policy::new().network(Network::Port(port));
        let connect = "socket.create_connection(('127.0.0.1', int(path)), 5).close()";
        let spec = attempt(connect).arg(port.to_string()).policy(policy.clone());
        assert_eq!(said(&run(&runner, spec).await.unwrap()), "done", "{tier}");
        // 0x20000000 is MSG_FASTOPEN, 262 the protocol MPTCP.
        for action in [
            connect,
            "socket.socket().sendto(b'x', 0x20000000, ('127.0.0.1', int(path)))",
            "socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).connect(('127.0.0.1', int(path)))",
            "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', int(path)))",
            "socket.socket(socket.AF_INET6)",
            "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
            "socket.socket(socket.AF_UNIX)",
            "socket.socket().bind(('127.0.0.1', 0))",
        ] {
            let spec = attempt(action).arg(other.to_string()).policy(policy.clone());
            assert_eq!(said(&run(&runner, spec).await.unwrap()), REFUSED, "{tier} {action}");
        }
    }
}

#[tokio::test]
async fn sockets_of_every_kind_are_refused() {
    let kinds = [
        ("AF_INET", "SOCK_STREAM"),
        ("AF_INET", "SOCK_DGRAM"),
        ("AF_NETLINK", "SOCK_RAW"),
        ("AF_PACKET", "SOCK_RAW"),
        ("AF_VSOCK", "SOCK_STREAM"),
    ];
    for (tier, runner) in confining_rungs().await {
        for (kind, shape) in kinds {
            let spec = attempt(&format!("socket.socket(socket.{kind}, socket.{shape})"));
            let (confined, free) = confined_and_free(&runner, tier, &spec, Policy::new()).await;
            assert_eq!(confined, REFUSED, "{tier} {kind}");
            // Raw and machine sockets need powers or hardware that a host may lack anyway.
            assert!(free == "done" || ["AF_PACKET", "AF_VSOCK"].contains(&kind), "{kind} {free}");
        }
        let pair = run(&runner, attempt("socket.socketpair()")).await.unwrap();
        assert_eq!(said(&pair), "done", "{tier}");
    }
}

#[tokio::test]
async fn unix_sockets_need_permission() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("engine.sock");
    let _listener = UnixListener::bind(&path).unwrap();
    let spec = attempt("socket.socket(socket.AF_UNIX).connect(path)").arg(&path);
    for (tier, runner) in confining_rungs().await {
        // The network's permission does not open them.
        let policy = Policy::new().network(Network::Allowed).write(folder.path());
        let (confined, free) = confined_and_free(&runner, tier, &spec, policy.clone()).await;
        assert_eq!((confined.as_str(), free.as_str()), (REFUSED, "done"), "{tier}");
        let allowed = spec.clone().policy(policy.unix_sockets(UnixSockets::Allowed));
        assert_eq!(said(&run(&runner, allowed).await.unwrap()), "done", "{tier}");
    }
}

#[tokio::test]
async fn listening_sockets_connect_to_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("engine.sock");
    let _listener = UnixListener::bind(&path).unwrap();
    for (tier, runner) in confining_rungs().await {
        let policy = Policy::new().write(folder.path()).unix_sockets(UnixSockets::Listening);
        for (action, expected) in [
            ("socket.socket(socket.AF_UNIX).connect(path)", REFUSED),
            ("socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)", REFUSED),
            ("socket.socket(socket.AF_INET)", REFUSED),
            (
                "s = socket.socket(socket.AF_UNIX); s.bind(path + str(os.getpid())); s.listen()",
                "done",
            ),
        ] {
            let spec = attempt(action).arg(&path).policy(policy.clone());
            assert_eq!(said(&run(&runner, spec).await.unwrap()), expected, "{tier} {action}");
        }
    }
}

#[tokio::test]
async fn dangerous_system_calls_are_refused() {
    // Each with arguments that the kernel refuses otherwise, so that the unconfined run harms nothing.
    let calls = [
        ("ptrace", "101, 16, 999999, 0, 0", 1),
        ("unshare", "272, 0", 1),
        ("bpf", "321, 999, 0, 0", 1),
        ("keyctl", "250, 999", 1),
        ("userfaultfd", "323, 0x1000000", 1),
        ("open_by_handle_at", "304, -1, 0, 0", 1),
        ("clone3", "435, 0, 0", 38),
        ("io_uring_setup", "425, 0, 0", 38),
        ("x32 ptrace", "0x40000000 + 101, 16, 999999, 0, 0", 1),
        ("x32 getpid", "0x40000000 + 39", 1),
        ("clone NEWUSER", "56, 0x10000000 | 0x800, 0, 0, 0, 0", 1),
    ];
    if !cfg!(target_arch = "x86_64") {
        testkit::skip_on_this_host("the numbers of system calls are those of x86_64");
        return;
    }
    for (tier, runner) in confining_rungs().await {
        for (name, arguments, errno) in calls {
            let script = format!(
                "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n\
                 libc.syscall({arguments})\nprint(ctypes.get_errno())"
            );
            let (confined, free) =
                confined_and_free(&runner, tier, &python(&script), Policy::new()).await;
            assert_eq!(confined, errno.to_string(), "{tier} {name}");
            // An unconfined kernel may lack x32, which reads as ENOSYS.
            assert_ne!(free, errno.to_string(), "{tier} {name}");
        }
    }
}

#[tokio::test]
async fn a_child_of_root_has_no_privileges() {
    let script = "print([l.split()[1] for l in open('/proc/self/status') \
                  if l.startswith(('CapEff', 'CapPrm', 'CapAmb', 'NoNewPrivs'))])";
    for (tier, runner) in confining_rungs().await {
        let seen = said(&run(&runner, python(script)).await.unwrap());
        let none = "'0000000000000000'";
        assert_eq!(seen, format!("[{none}, {none}, {none}, '1']"), "{tier}");
    }
}

#[tokio::test]
async fn a_namespace_shows_only_its_own() {
    let runner = runner(Tier::T2).await;
    let script = "import os; print(sorted(int(p) for p in os.listdir('/proc') if p.isdigit()), \
                  os.getpid(), os.listdir('/sys/class/net') if os.access('/sys/class/net', 4) else '')";
    let (confined, free) =
        confined_and_free(&runner, Tier::T2, &python(script), Policy::new().read("/sys")).await;
    assert!(confined.starts_with("[1, 2] 2"), "{confined}");
    assert!(!free.starts_with("[1, 2] 2"), "{free}");
}

#[tokio::test]
async fn threads_and_children_work_under_confinement() {
    let script = "import subprocess, sys, concurrent.futures as f\n\
                  print(list(f.ThreadPoolExecutor(4).map(abs, [-1, -2])), \
                  subprocess.check_output([sys.executable, '-I', '-c', 'print(3)']).decode().strip(), \
                  subprocess.run(['/bin/sh', '-c', 'exit 4']).returncode)";
    for (tier, runner) in confining_rungs().await {
        assert_eq!(said(&run(&runner, python(script)).await.unwrap()), "[1, 2] 3 4", "{tier}");
    }
}

#[tokio::test]
async fn the_standard_streams_can_be_reopened() {
    let script = "read line < /dev/stdin; echo \"$line\" > /dev/stdout; echo gone > /dev/null";
    for (tier, runner) in confining_rungs().await {
        let spec = Spec::new("sh").args(["-c", script]).stdin("a line\n");
        assert_eq!(said(&run(&runner, spec).await.unwrap()), "a line", "{tier}");
    }
}

#[tokio::test]
async fn shared_memory_is_private_or_closed() {
    let name = format!("/dev/shm/powerstrip-test-{}", std::process::id());
    fs::write(&name, "ours").unwrap();
    for (tier, runner) in confining_rungs().await {
        let peek = attempt("open(path).read()").arg(&name);
        let (confined, free) = confined_and_free(&runner, tier, &peek, Policy::new()).await;
        let expected = if tier == Tier::T2 { "FileNotFoundError" } else { REFUSED };
        assert_eq!((confined.as_str(), free.as_str()), (expected, "done"), "{tier}");

        let pool = attempt("import multiprocessing as m; m.Pool(2).map(abs, [-1])");
        let expected = if tier == Tier::T2 { "done" } else { REFUSED };
        assert_eq!(said(&run(&runner, pool).await.unwrap()), expected, "{tier}");
    }
    fs::remove_file(&name).unwrap();
}
